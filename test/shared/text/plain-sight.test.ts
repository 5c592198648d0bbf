import { describe, expect, it } from 'vitest';
import { inOneLine, inPlainSight, nameInLine } from '../../../shared/text/plain-sight.ts';

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
  ['rm\ufe0f\u034f -r\u{e0100}f', 'rm\\u{fe0f}\\u{34f} -r\\u{e0100}f'],
  ['\u0301a /\u0338b', '\\u{301}a /\\u{338}b'],
  ['x\n\u0338 =\u0338\u0301', 'x\n\\u{338} =\\u{338}\\u{301}'],
  ['e\u0301 हिन्दी שָׁלוֹם', 'e\u0301 हिन्दी שָׁלוֹם'],
  [`e${'\u0301'.repeat(9)}`, `e${'\u0301'.repeat(8)}\\u{301}`],
  ['e\u034f\u0301', 'e\\u{34f}\\u{301}'],
  ['C:\\up \\n ä 🌉', 'C:\\up \\n ä 🌉'],
  ['\\u{1b}', '\\\\u{1b}'],
  ['\\\u001b', '\\\\\\u{1b}'],
])('%j is shown as %s', (text, shown) => {
  expect(inPlainSight(text)).toBe(shown);
});

it.each([
  ['inPlainSight', inPlainSight],
  ['inOneLine', inOneLine],
])('%s shows backslashes of any number', (_, show) => {
  const many = '\\'.repeat(1_000_000);
  expect([many, `${many}a`, `${many}u{`].map((text) => show(text).length)).toEqual([
    ...[1_000_000, 1_000_001, 2_000_002],
  ]);
});

it.each([
  ['inPlainSight', inPlainSight],
  ['inOneLine', inOneLine],
  ['nameInLine', nameInLine],
])('%s never shows two different texts the same way', (_, show) => {
  const pieces = ['\\', 'u{1b}', '\u001b', 'u', '{', '1b}', '\n', '"', '\u0301', '\ufe0f'];
  const shown = new Map<string, string>();
  const grow = (text: string, left: number) => {
    const made = show(text);
    const seen = shown.get(made);
    if (seen !== undefined) expect(seen).toBe(text);
    shown.set(made, text);
    if (left > 0) for (const piece of pieces) grow(text + piece, left - 1);
  };
  grow('', 5);
  expect(shown.size).toBeGreaterThan(10_000);
});

/** What could end a line, hide something, or turn the direction of writing. */
const HOSTILE = [
  ...['\n', '\r', '\t', '\u0000', '\u001b[2K', '\u007f', '\u009b1A'],
  ...['\u2028', '\u2029', '\u202e', '\u200b', '\u00a0', '\u3164', '\u{e0041}'],
  ...['\ufe0f', '\u034f', '\u200d', '-\u0301', '\n\u0301'],
];

it('no character that Unicode lets programs leave out is shown as it is', () => {
  const all = Array.from({ length: 0x110000 }, (_, code) => String.fromCodePoint(code));
  const left = all
    .filter((character) => /\p{Default_Ignorable_Code_Point}/u.test(character))
    .filter((character) => inPlainSight(`a${character}b`).includes(character));
  expect(left).toEqual([]);
  const marks = all.filter((character) => /\p{M}/u.test(character));
  expect(marks.filter((mark) => inPlainSight(` ${mark}`).includes(mark))).toEqual([]);
});

it('a hundred thousand marks take no longer than as many letters', () => {
  expect(inPlainSight(`e${'\u0301'.repeat(100_000)}`).length).toBe(
    1 + 8 + 99_992 * '\\u{301}'.length,
  );
});

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
