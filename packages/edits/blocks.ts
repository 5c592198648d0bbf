/** The pieces of an edit between its markers. */
import { lineTexts } from './lines.ts';
import { isMarker } from './markers.ts';

/** A piece of an edit between two markers, or between a marker and an end of the edit. */
export interface EditBlock {
  readonly lines: readonly string[];
  /** The same lines as they are compared: without white space at their ends. */
  readonly texts: readonly string[];
  /** The number of its first line in the edit, counted from 1. */
  readonly number: number;
  /** Whether no marker stands before (after) it: then it reaches to that edge of the file. */
  readonly startsFile: boolean;
  readonly endsFile: boolean;
  /** The marker after it, if any. */
  readonly marker: string | null;
  /** The blank lines between it and the markers beside it. */
  readonly blanks: { readonly above: number; readonly below: number };
}

/** A block and the lines of the file that it replaces, from index `from` up to but not including `to`. */
export interface PlacedBlock {
  readonly block: EditBlock;
  readonly from: number;
  readonly to: number;
}

/** Blank lines at the ends of a piece are layout. Pieces of only blank lines are dropped. */
export function parseBlocks(edit: string): EditBlock[] {
  const lines = lineTexts(edit);
  const blocks: EditBlock[] = [];
  let start = 0;
  const closeBlock = (end: number) => {
    const isBlank = (line: string | undefined) => line?.trim() === '';
    let [from, to] = [start, end];
    while (from < to && isBlank(lines[from])) from++;
    while (from < to && isBlank(lines[to - 1])) to--;
    if (from < to) {
      const own = lines.slice(from, to);
      blocks.push({
        lines: own,
        texts: own.map((line) => line.trimEnd()),
        number: from + 1,
        startsFile: start === 0,
        endsFile: end === lines.length,
        marker: lines[end] ?? null,
        blanks: {
          above: start === 0 ? 0 : from - start,
          below: end === lines.length ? 0 : end - to,
        },
      });
    }
    start = end + 1;
  };
  lines.forEach((line, index) => {
    if (isMarker(line)) closeBlock(index);
  });
  closeBlock(lines.length);
  return blocks;
}
