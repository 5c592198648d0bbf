import { expect, it } from 'vitest';
import type { Rule } from '../../../bridge/admission/rules.ts';
import { mayFetch } from '../../../bridge/admission/web.ts';

const DOCS = 'https://docs.example.com/a';
const rule = (tool: string, decision: Rule['decision'], pattern = '*'): Rule => ({
  tool,
  pattern,
  decision,
});

it.each<[string, Rule[], Rule[], boolean]>([
  ['without a rule', [], [], false],
  ['where the owner allows it', [rule('web', 'allow', 'https://docs.example.com/*')], [], true],
  [
    'where the owner allows another site',
    [rule('web', 'allow', 'https://example.com/*')],
    [],
    false,
  ],
  ['where the owner allows everything', [rule('*', 'allow')], [], true],
  ['where the owner allows to read files', [rule('read', 'allow')], [], false],
  [
    'where the owner wants to be asked',
    [rule('web', 'allow'), rule('web', 'ask', '*docs*')],
    [],
    false,
  ],
  ['where the workspace allows it', [], [rule('web', 'allow')], false],
  ['where the workspace forbids it', [rule('web', 'allow')], [rule('*', 'deny')], false],
])('a page is read unasked: %s', (_, userRules, workspaceRules, isRead) => {
  expect(mayFetch(DOCS, { userRules, workspaceRules })).toBe(isRead);
});

it.each([
  ['https://*.example.com/*', DOCS, true],
  ['*.example.com/*', DOCS, true],
  ['https://docs.example.com/a', DOCS, true],
  ['https://docs.*', DOCS, true],
  ['*a', DOCS, true],
  ['https://*.example.com/*', 'https://evil.example/x.example.com/y', false],
  ['*.example.com/*', 'https://evil.example/x.example.com/y', false],
  ['https://*.example.com/*', 'https://evil.example/?x.example.com/y', false],
])('the owner’s %s allows %s: %s', (pattern, url, isRead) => {
  const userRules = [rule('web', 'allow', pattern)];
  expect(mayFetch(url, { userRules, workspaceRules: [] })).toBe(isRead);
});

it('a rule that forbids a site also holds for its name with a dot at the end', () => {
  const userRules = [rule('web', 'allow'), rule('web', 'deny', 'https://docs.example.com/*')];
  const dotted = 'https://docs.example.com./a';
  expect(mayFetch(dotted, { userRules, workspaceRules: [] })).toBe(false);
});
