import { expect, it } from 'vitest';
import { countChanged, diffRows, rowsWithGaps } from '../../../shared/shown/diff-rows.ts';
import type { Diff } from '../../../shared/wire/documents.ts';

const hunk = (startLine: number, oldString: string, newString: string): Diff => {
  return { startLine, endLine: startLine + oldString.split('\n').length - 1, oldString, newString };
};

/** Each row as its sign, its two numbers and its text. */
function shown(...hunks: Diff[]): string[][] {
  return diffRows(hunks).map((rows) =>
    rows.map(({ sign, oldLine = '.', newLine = '.', text }) =>
      [sign, oldLine, newLine, text].join(' ').trimEnd(),
    ),
  );
}

it('shows the lines that both texts of a hunk have as unchanged', () => {
  const change = hunk(10, 'one\ntwo\nthree', 'one\n2\nthree\nfour');
  expect(shown(change)).toEqual([
    ['  10 10 one', '- 11 . two', '+ . 11 2', '  12 12 three', '+ . 13 four'],
  ]);
  expect(countChanged([change])).toEqual({ added: 2, removed: 1 });
});

it('leaves a gap only where lines are left out', () => {
  const signs = (...hunks: Diff[]) => rowsWithGaps(hunks).map((row) => row?.sign ?? '…');
  expect(signs(hunk(2, 'a', 'b'), hunk(3, 'c', 'c\nd'))).toEqual(['-', '+', ' ', '+']);
  expect(signs(hunk(2, 'a', 'b'), hunk(4, 'c', 'd'))).toEqual(['-', '+', '…', '-', '+']);
  expect(signs(hunk(2, '', 'b\n'), hunk(2, 'c', 'd'))).toEqual(['+', '-', '+']);
});

it('counts the new lines on from one hunk to the next', () => {
  const changes = [hunk(3, 'a', 'b\nc\nd'), hunk(20, 'e\nf', 'e'), hunk(30, 'g', 'h')];
  expect(shown(...changes)).toEqual([
    ['- 3 . a', '+ . 3 b', '+ . 4 c', '+ . 5 d'],
    ['  20 22 e', '- 21 . f'],
    ['- 30 . g', '+ . 31 h'],
  ]);
  expect(countChanged(changes)).toEqual({ added: 4, removed: 3 });
});

it.each([
  ['a new file', hunk(1, '', 'a\nb\n'), ['+ . 1 a', '+ . 2 b']],
  ['a new file without a line feed at its end', hunk(1, '', 'a'), ['+ . 1 a']],
  ['a file that becomes empty', hunk(1, 'a\n\n', ''), ['- 1 . a', '- 2 .']],
  ['a line feed that is taken from the end', hunk(1, 'a\n', 'a'), ['  1 1 a', '- 2 .']],
  ['the same texts', hunk(1, 'a', 'a'), ['  1 1 a']],
])('shows %s', (_, change, rows) => {
  expect(shown(change)).toEqual([rows]);
});

it('shows all lines as replaced where a search for unchanged ones would take too long', () => {
  const lines = (mark: string) => Array.from({ length: 5_000 }, (_, at) => `${mark}${at}`);
  const change = hunk(1, ['same', ...lines('a')].join('\n'), ['same', ...lines('b')].join('\n'));
  expect(countChanged([change])).toEqual({ added: 5_001, removed: 5_001 });
});
