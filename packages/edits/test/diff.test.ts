import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Diff } from '../../../shared/wire/documents.ts';
import { diffTexts } from '../diff.ts';

const CHANGES: readonly [before: string, after: string, diff: Diff, hunks?: readonly Diff[]][] = [
  ['a\nb\nc\n', 'a\nx\nc\n', { oldString: 'b', newString: 'x', startLine: 2, endLine: 2 }],
  ['a\nb\n', 'a\nn\nb\n', { oldString: 'a', newString: 'a\nn', startLine: 1, endLine: 1 }],
  ['a\nb\n', 'n\na\nb\n', { oldString: 'a', newString: 'n\na', startLine: 1, endLine: 1 }],
  ['a\nb\nc\n', 'a\nc\n', { oldString: 'a\nb', newString: 'a', startLine: 1, endLine: 2 }],
  ['a\nb\n', 'b\n', { oldString: 'a\nb', newString: 'b', startLine: 1, endLine: 2 }],
  ['', 'a\nb\n', { oldString: '', newString: 'a\nb\n', startLine: 1, endLine: 1 }],
  ['a\nb\n', '', { oldString: 'a\nb\n', newString: '', startLine: 1, endLine: 3 }],
  ['a', 'a\n', { oldString: 'a', newString: 'a\n', startLine: 1, endLine: 1 }],
  ['a\r\nb\r\n', 'a\r\nc\r\n', { oldString: 'b\r', newString: 'c\r', startLine: 2, endLine: 2 }],
  [
    'a\nb\nc\nd\ne\n',
    'a\nB\nc\nD\ne\n',
    { oldString: 'b\nc\nd', newString: 'B\nc\nD', startLine: 2, endLine: 4 },
    [
      { oldString: 'b', newString: 'B', startLine: 2, endLine: 2 },
      { oldString: 'd', newString: 'D', startLine: 4, endLine: 4 },
    ],
  ],
];

describe('diffTexts', () => {
  it.each(CHANGES)('shows %j becoming %j', (before, after, diff, hunks) => {
    expect(diffTexts(before, after)).toEqual(hunks === undefined ? { diff } : { diff, hunks });
  });

  it.each(CHANGES)('gives the new text again: %j to %j', (before, after) => {
    const changes = diffTexts(before, after);
    expect(applyDiffs(before, [changes?.diff])).toBe(after);
    expect(applyDiffs(before, changes?.hunks ?? [changes?.diff])).toBe(after);
  });

  it('shows nothing when nothing changed', () => {
    expect(diffTexts('a', 'a')).toBe(null);
  });

  it('shows nothing of a change too long to be read', () => {
    expect(diffTexts('a\n'.repeat(300_000), 'b\n'.repeat(300_000))).toBe(null);
  });

  it('shows one piece when the fine diff takes too long', () => {
    const lines = Array.from({ length: 20_000 }, (_, i) => String((i * 7_919) % 20_011));
    const changes = diffTexts(lines.join('\n'), lines.toReversed().join('\n'));
    expect(changes?.hunks).toBeUndefined();
    expect(changes?.diff).toMatchObject({ startLine: 1, endLine: 20_000 });
  });

  it('gives the new text again for any change', () => {
    const lines = fc.array(fc.constantFrom('a', 'b', 'c'), { maxLength: 8 });
    const isGiven = fc.property(lines, lines, (old, fresh) => {
      const [before, after] = [old.join('\n'), fresh.join('\n')];
      const changes = diffTexts(before, after);
      if (changes === null) return;
      expect(applyDiffs(before, [changes.diff])).toBe(after);
      expect(applyDiffs(before, changes.hunks ?? [changes.diff])).toBe(after);
    });
    fc.assert(isGiven, { seed: 7, numRuns: 300 });
  });
});

function applyDiffs(text: string, diffs: readonly (Diff | undefined)[]): string {
  const lines = text.split('\n');
  for (const diff of diffs.toReversed()) {
    if (diff === undefined) continue;
    const { oldString, newString, startLine, endLine } = diff;
    const removed = lines.splice(startLine - 1, endLine - startLine + 1, ...newString.split('\n'));
    expect(removed.join('\n')).toBe(oldString);
  }
  return lines.join('\n');
}
