import { expect, it } from 'vitest';
import { readHead } from '../../../bridge/rules/frontmatter.ts';

it.each([
  ['always', 'description:\nglobs:\nalwaysApply: true', { kind: 'always' }],
  ['always, whatever its globs', 'globs: *.ts\nalwaysApply: true', { kind: 'always' }],
  ['glob that no YAML parser takes', 'globs: *.ts', { kind: 'glob', globs: ['*.ts'] }],
  [
    'globs between commas, and a comma in braces',
    'description: Web\nglobs: src/**/*.{ts,tsx}, "docs/**" ,\nalwaysApply: false',
    { kind: 'glob', globs: ['src/**/*.{ts,tsx}', 'docs/**'], description: 'Web' },
  ],
  ['globs in brackets', "globs: ['*.py', *.pyi]", { kind: 'glob', globs: ['*.py', '*.pyi'] }],
  ['globs as a list', 'globs:\n  - a/**\n  - "*.b"', { kind: 'glob', globs: ['a/**', '*.b'] }],
  [
    'a description, a comment and a key that is unknown',
    '# mine\ndescription: "How: with care"\nowner: web-team\nalwaysApply: false',
    { kind: 'description', description: 'How: with care' },
  ],
  [
    'a description on the next lines',
    'description: >-\n  When you\n  test',
    { kind: 'description', description: 'When you test' },
  ],
  ['manual without any of them', 'description:\nglobs:\nalwaysApply: false', { kind: 'manual' }],
])('reads a head: %s', (_, head, expected) => {
  expect(readHead(`---\n${head}\n---\n\nBody.\n`)).toEqual({ ...expected, body: 'Body.' });
  expect(readHead(`---\r\n${head.replaceAll('\n', '\r\n')}\r\n---\r\nBody.`)).toEqual({
    ...expected,
    body: 'Body.',
  });
});

it('reads a head behind a byte order mark', () => {
  expect(readHead('\uFEFF---\nalwaysApply: true\n---\nBody.')).toEqual({
    kind: 'always',
    body: 'Body.',
  });
});

it('takes a file without a head as manual', () => {
  expect(readHead('Body.\n---\nmore')).toEqual({ kind: 'manual', body: 'Body.\n---\nmore' });
});

it.each([
  ['has no end', '---\nalwaysApply: true\nBody.', '---\nalwaysApply: true\nBody.'],
  ['is no "key: value"', '---\n{alwaysApply}\n---\nBody.', 'Body.'],
  ['neither true nor false', '---\nalwaysApply: yes please\n---\nBody.', 'Body.'],
  ['no field named always_apply', '---\nalways_apply: true\n---\nBody.', 'Body.'],
  ['no field named glob', '---\nglob: *.ts\n---\nBody.', 'Body.'],
  ['list of globs in its head has no end', '---\nglobs: [*.ts, *.js\n---\nBody.', 'Body.'],
  ['in the first line', '\n---\nglobs: a\n---\nBody.', '---\nglobs: a\n---\nBody.'],
  ['in the first line', ' ---\nglobs: a\n---\nBody.', '---\nglobs: a\n---\nBody.'],
  ['in the first line', '+++\na=1\n+++\nBody.', '+++\na=1\n+++\nBody.'],
])('takes a broken head as manual, and says why: %s', (why, text, body) => {
  expect(readHead(text)).toEqual({ kind: 'manual', body, problem: expect.stringContaining(why) });
});

it('reads lines that are long on purpose', () => {
  const item = `${' '.repeat(500_000)}a\u2028b`;
  const { kind, globs } = readHead(`---\nglobs:\n- ${item}\n---\nBody.`);
  expect([kind, globs]).toEqual(['glob', ['a\u2028b']]);
});
