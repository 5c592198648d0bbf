import { expect, it } from 'vitest';
import { describeProposal, inPlainSight } from '../../shared/plain-sight.ts';

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

it('two different texts are never shown the same way', () => {
  const pieces = ['\\', 'u{1b}', '\u001b', 'u', '{', '1b}', '\n', ' '];
  const shown = new Map<string, string>();
  const grow = (text: string, left: number) => {
    const seen = shown.get(inPlainSight(text));
    expect(seen ?? text).toBe(text);
    shown.set(inPlainSight(text), text);
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
