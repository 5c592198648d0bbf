import { describe, expect, it } from 'vitest';
import { describeProposal, inOneLine, inPlainSight, nameInLine } from '../../shared/plain-sight.ts';

it.each([
  ['git push\nrm x', 'git push\nrm x'],
  ['\u001b[31mred\u0007', '\\u{1b}[31mred\\u{7}'],
  ['a\tb\rc\u007f\u0085', 'a\\u{9}b\\u{d}c\\u{7f}\\u{85}'],
  [
    '\u202Els\u200B\u2066\uFEFF\u00AD\u{E0041}',
    '\\u{202e}ls\\u{200b}\\u{2066}\\u{feff}\\u{ad}\\u{e0041}',
  ],
  ['\u00A0\u3000\u2028\u3164\u2800', '\\u{a0}\\u{3000}\\u{2028}\\u{3164}\\u{2800}'],
  ['\ud800x', '\\u{d800}x'],
  ['C:\\up \\n ä 🌉', 'C:\\up \\n ä 🌉'],
  ['\\u{1b}', '\\\\u{1b}'],
  ['\\\u001b', '\\\\\\u{1b}'],
])('%j is shown as %s', (text, shown) => {
  expect(inPlainSight(text)).toBe(shown);
});

it.each([
  ['inPlainSight', inPlainSight],
  ['inOneLine', inOneLine],
  ['nameInLine', nameInLine],
])('%s never shows two different texts the same way', (_, show) => {
  const pieces = ['\\', 'u{1b}', '\u001b', 'u', '{', '1b}', '\n', '"'];
  const shown = new Map<string, string>();
  const grow = (text: string, left: number) => {
    const seen = shown.get(show(text));
    expect(seen ?? text).toBe(text);
    shown.set(show(text), text);
    if (left > 0) for (const piece of pieces) grow(text + piece, left - 1);
  };
  grow('', 5);
  expect(shown.size).toBeGreaterThan(10_000);
});

it('an argument cannot look like another one', () => {
  const args = { command: 'a\n  permissions: []', 'is: b\nc': ['x\u001b'], 'two words': true };
  expect(describeProposal({ kind: 'call', tool: 'run', arguments: args })).toEqual([
    '  command: a',
    '      permissions: []',
    '  "is: b\\nc": ["x\\u001b"]',
    '  "two words": true',
  ]);
});

/** What could end a line, hide something, or turn the direction of writing. */
const HOSTILE = [
  ...['\n', '\r', '\t', '\u0000', '\u001b[2K', '\u007f', '\u009b1A'],
  ...['\u2028', '\u2029', '\u202e', '\u200b', '\u00a0', '\u3164', '\u{e0041}'],
];

describe('what cannot be seen is escaped on a line', () => {
  it.each(HOSTILE)('%j', (hidden) => {
    const text = `a${hidden}b`;
    for (const shown of [inOneLine(text), nameInLine(text)]) expect(shown).toMatch(/^[!-~]+$/);
    expect(JSON.parse(nameInLine(text))).toBe(text);
  });
});

it.each([
  'src/a b.ts',
  'größe.txt',
  '日本.md',
  "it's",
  'a\\nb',
  '👩\u200d💻.txt',
  'می\u200cخواهم.md',
])('the usual name %s stays as it is', (name) => {
  expect(nameInLine(name)).toBe(name);
});
