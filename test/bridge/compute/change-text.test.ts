import { expect, it } from 'vitest';
import { describeChange } from '../../../bridge/compute/change-text.ts';
import { searchPatiently } from '../../../packages/edits/test/patient-diff.ts';

searchPatiently();

const describeTexts = (before: string, after: string, maxChars = 10_000) =>
  describeChange({ before: Buffer.from(before), after: Buffer.from(after), maxChars });

it.each([
  ['a changed line', 'a\nb\nc\n', 'a\nB\nc\n', '+1 -1 lines\n@@ line 2 @@\n-b\n+B'],
  ['an added line', 'a\nb\n', 'a\nx\nb\n', '+1 -0 lines\n@@ line 2 @@\n+x'],
  ['a removed line', 'a\nx\nb\n', 'a\nb\n', '+0 -1 lines\n@@ line 2 @@\n-x'],
  ['a line added at the top', 'a\n', 'x\na\n', '+1 -0 lines\n@@ line 1 @@\n+x'],
  ['a file that was emptied', 'a\nb', '', '+1 -2 lines\n@@ line 1 @@\n-a\n-b\n+'],
  ['a file that was empty', '', 'a', '+1 -1 lines\n@@ line 1 @@\n-\n+a'],
  ['a binary file', 'a', 'a\0', '(a binary file)'],
])('%s', (_, before, after, text) => {
  expect(describeTexts(before, after)).toBe(text);
});

it('shows several places apart, and cuts what is too long with a note', () => {
  const lines = Array.from({ length: 2_000 }, (_, index) => `line ${index}`);
  const after = lines.map((line, index) => (index % 10 === 0 ? `${line}!` : line));
  const text = describeTexts(lines.join('\n'), after.join('\n'), 500);
  expect(text).toMatch(/^\+200 -200 lines\n@@ line 1 @@\n-line 0\n\+line 0!\n@@ line 11 @@\n/);
  expect(text).toMatch(/\n\.\.\. \(cut: \d+ more lines, use read_file\)$/);
  expect(text.length).toBeLessThanOrEqual(500);
});
