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
