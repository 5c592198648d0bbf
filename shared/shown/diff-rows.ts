/** The rows of a change: its lines with their numbers in both texts. */
import { diffArrays } from 'diff';
import type { Diff } from '../wire/documents.ts';
import { SHOWN_LIMITS } from './limits.ts';

export interface DiffRow {
  readonly sign: ' ' | '+' | '-';
  readonly text: string;
  /** Counted from 1; absent for an added line. */
  readonly oldLine?: number;
  /** Counted from 1; absent for a removed line. */
  readonly newLine?: number;
}

/** One list of rows for each hunk. Lines that a hunk has in both of its texts are unchanged ones. */
export function diffRows(hunks: readonly Diff[]): DiffRow[][] {
  let shift = 0;
  return hunks.map((hunk) => {
    const rows = rowsOf(hunk, hunk.startLine + shift);
    shift += count(rows, '+') - count(rows, '-');
    return rows;
  });
}

/** The rows of all hunks, with an empty place where lines between two hunks are left out. */
export function rowsWithGaps(hunks: readonly Diff[]): (DiffRow | undefined)[] {
  let next = Number.POSITIVE_INFINITY;
  return diffRows(hunks).flatMap((rows, at) => {
    const start = hunks[at]?.startLine ?? 0;
    const isApart = start > next;
    next = start + rows.filter(({ sign }) => sign !== '+').length;
    return isApart ? [undefined, ...rows] : rows;
  });
}

/** How many lines a change adds and removes, without those that a hunk has in both of its texts. */
export function countChanged(hunks: readonly Diff[]): { added: number; removed: number } {
  const rows = diffRows(hunks).flat();
  return { added: count(rows, '+'), removed: count(rows, '-') };
}

function rowsOf(hunk: Diff, newStart: number): DiffRow[] {
  let [oldLine, newLine] = [hunk.startLine, newStart];
  return changesOf(hunk).flatMap(({ value, added, removed }) =>
    value.map((text): DiffRow => {
      if (added) return { sign: '+', text, newLine: newLine++ };
      if (removed) return { sign: '-', text, oldLine: oldLine++ };
      return { sign: ' ', text, oldLine: oldLine++, newLine: newLine++ };
    }),
  );
}

interface DiffPiece {
  readonly value: string[];
  readonly added?: boolean;
  readonly removed?: boolean;
}

/** All lines as removed and added ones where the texts differ too much for a search. */
function changesOf({ oldString, newString }: Diff): readonly DiffPiece[] {
  const old = linesOf(oldString, newString);
  const fresh = linesOf(newString, oldString);
  return (
    diffArrays(old, fresh, { maxEditLength: SHOWN_LIMITS.diffSteps }) ?? [
      { value: old, removed: true },
      { value: fresh, added: true },
    ]
  );
}

/** Beside an empty text, which has no line, a line feed at the end ends the last line. */
function linesOf(text: string, other: string): string[] {
  if (text === '') return [];
  return (other === '' ? text.replace(/\n$/, '') : text).split('\n');
}

function count(rows: readonly DiffRow[], sign: DiffRow['sign']): number {
  return rows.filter((row) => row.sign === sign).length;
}
