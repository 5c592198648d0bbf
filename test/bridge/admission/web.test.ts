import { expect, it } from 'vitest';
import type { Rule } from '../../../bridge/admission/rules.ts';
import { judgePage, judgeSearch, mayFetch } from '../../../bridge/admission/web.ts';

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
  ['*example*', DOCS, true],
  ['*/a', DOCS, true],
  ['http*://docs.example.com/*', DOCS, true],
  ['https://docs.example.com', 'https://docs.example.com', true],
  ['https://docs.example.com', DOCS, false],
  ['http://localhost:*/a', 'http://localhost:3000/a', true],
  ['http://[::1]:3000/*', 'http://[::1]:3000/a', true],
  ['https://*', DOCS, true],
  ['http://*', DOCS, false],
  ['*a', DOCS, false],
  ['https://*.example.com/*', 'https://evil.example/x.example.com/y', false],
  ['*.example.com/*', 'https://evil.example/x.example.com/y', false],
  ['https://*.example.com/*', 'https://evil.example/?x.example.com/y', false],
])('the owner’s %s allows %s: %s', (pattern, url, isRead) => {
  const userRules = [rule('web', 'allow', pattern)];
  expect(mayFetch(url, { userRules, workspaceRules: [] })).toBe(isRead);
});

/** Addresses of another site, or of another port, which hold the name of the site anywhere. */
const ELSEWHERE = ['docs.example.com', '.example.com', 'x.example.com/'].flatMap((name) => [
  ...['/', '//', '/?', '/#', '?', '#', '\\', '/%2f', '/x@', '/:'].map(
    (before) => `https://evil.example${before}${name}`,
  ),
  ...['@', ':pw@', '%2f@'].map((before) => `https://${name.split('/')[0]}${before}evil.example/`),
]);

it.each([
  ...['https://*.example.com*', 'https://*.example.com', 'https://*.example.com/*'],
  ...['https://docs.example.com*', 'https://docs.example.com/*', '*://*.example.com*'],
  ...['*.example.com*', '*.example.com', '*.example.com/*', '*docs.example.com*'],
  ...['https://docs.example.com:*/*', 'https://docs?example.com/*', 'https://*.example.com*/*'],
])('the owner’s %s allows no other site, and no port that it does not name', (pattern) => {
  const userRules = [rule('web', 'allow', pattern)];
  const others = [...ELSEWHERE, 'https://evil.example:8443/docs.example.com'];
  if (!pattern.includes(':*/')) others.push('https://docs.example.com:8443/');
  expect(others.filter((url) => mayFetch(url, { userRules, workspaceRules: [] }))).toEqual([]);
});

it('a rule that forbids a site also holds for its name with a dot at the end', () => {
  const userRules = [rule('web', 'allow'), rule('web', 'deny', 'https://docs.example.com/*')];
  const dotted = 'https://docs.example.com./a';
  expect(mayFetch(dotted, { userRules, workspaceRules: [] })).toBe(false);
});

const SECRET = 'https://docs.example.com/secret/plans?all=1';
const SPELLINGS = [
  SECRET,
  SECRET.replace('secret', '%73ecret'),
  SECRET.replace('secret', '%73%65%63%72%65%74'),
  SECRET.replace('secret', '%2573ecret'),
  SECRET.replace('secret', '%252573ecret'),
  SECRET.replace('secret', 's%2565cret'),
  SECRET.replace('/secret/', '//secret/'),
  SECRET.replace('/secret/', '/x/../secret/'),
  SECRET.replace('/secret/', '/x/%2e%2E/secret/'),
  SECRET.replace('/secret/', '/%2Fsecret/'),
  SECRET.replace('/secret/', '/secret%2f'),
  SECRET.replace('/secret/', '\\\\secret/'),
  SECRET.replace('/secret/', '/%5csecret/'),
  SECRET.replace('docs.example', 'DOCS.ex%61mple'),
  SECRET.replace('.com', '.com:443'),
  SECRET.replace('.com', '\u3002com'),
  SECRET.replace('docs', '\uff44ocs'),
  SECRET.replace('.com', '.com.'),
  SECRET.replace('https', 'HTTPS'),
  `${SECRET}#part`,
];
const DENIED = [
  'https://docs.example.com/secret/*',
  'https://DOCS.example.com:443/%73ecret/*',
  '*/secret/*',
  '*docs.example.com/secret*',
];

it.each(DENIED)('a rule that denies %s holds however the address is written', (pattern) => {
  const owners = [rule('web', 'allow'), rule('web', 'deny', pattern)];
  const rulebooks = [
    { userRules: owners, workspaceRules: [] },
    { userRules: [rule('web', 'allow')], workspaceRules: [rule('web', 'deny', pattern)] },
  ];
  const read = rulebooks.flatMap((rules) => SPELLINGS.filter((url) => mayFetch(url, rules)));
  expect(read).toEqual([]);
  for (const rules of rulebooks) {
    expect(mayFetch('https://docs.example.com/open/plans', rules)).toBe(true);
  }
});

it('a rule names a host in any script, and an empty query is none', () => {
  const rules = [rule('web', 'allow', 'https://M\u00fcnchen.example/a')];
  const may = (url: string) => mayFetch(url, { userRules: rules, workspaceRules: [] });
  expect(
    ['a', 'a?', '%61#b', 'a?b', 'A'].map((path) => may(`https://m\u00fcnchen.example/${path}`)),
  ).toEqual([true, true, true, false, false]);
});

it.each<[string, Rule[], Rule[], boolean, Rule['decision']]>([
  ['asks without a rule', [], [], false, 'ask'],
  ['runs where the site is allowed', [], [], true, 'allow'],
  [
    'runs by a rule for pages',
    [rule('web', 'allow', 'https://docs.example.com/*')],
    [],
    false,
    'allow',
  ],
  ['runs by a rule for the tool', [rule('WebFetch', 'allow', '*.example.com')], [], false, 'ask'],
  ['runs by a rule for all of the tool', [rule('WebFetch', 'allow')], [], false, 'allow'],
  ['asks by a rule, although the site is allowed', [rule('web', 'ask')], [], true, 'ask'],
  ['is refused by a rule', [rule('web_fetch', 'deny', '*/a')], [], true, 'deny'],
  ['is refused by the workspace', [rule('web', 'allow')], [rule('web', 'deny')], true, 'deny'],
  ['is not allowed by the workspace', [], [rule('web', 'allow')], false, 'ask'],
  ['is not about files', [rule('read', 'deny')], [], true, 'allow'],
])('web_fetch %s', (_, userRules, workspaceRules, isAllowed, decision) => {
  const book = { userRules, workspaceRules };
  expect(judgePage(DOCS, book, (site) => isAllowed && site === 'docs.example.com').decision).toBe(
    decision,
  );
});

it('web_fetch takes no other name of a site', () => {
  const book = { userRules: [rule('web', 'allow')], workspaceRules: [] };
  expect(judgePage('https://docs.example.com./', book, () => true).decision).toBe('deny');
});

it.each<[Rule[], Rule['decision']]>([
  [[], 'allow'],
  [[rule('web', 'ask')], 'ask'],
  [[rule('WebSearch', 'deny', '*secret*')], 'deny'],
  [[rule('web', 'deny', 'https://example.com/*'), rule('read', 'deny')], 'allow'],
])('web_search under %j: %s', (userRules, decision) => {
  expect(judgeSearch('a secret', { userRules, workspaceRules: [] }).decision).toBe(decision);
});
