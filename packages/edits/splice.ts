/** The one way an edit changes a text: it cuts pieces out by offset and puts others in, literally. */
import { eolOfLine, type TextLine } from './lines.ts';

/** Replaces the text from `start` to `end` by `insert`. */
export interface Splice {
  readonly start: number;
  readonly end: number;
  readonly insert: string;
}

/** Applies splices that are in order and do not overlap. `insert` is literal. */
export function applySplices(text: string, splices: readonly Splice[]): string {
  const pieces: string[] = [];
  let position = 0;
  for (const { start, end, insert } of splices) {
    pieces.push(text.slice(position, start), insert);
    position = end;
  }
  return pieces.join('') + text.slice(position);
}

/** A run of lines to replace. `asked` holds the lines that the edit expects there. */
export interface LineWindow {
  /** Index of the first line. */
  readonly from: number;
  readonly asked: readonly string[];
  /** With true, the last of `asked` is empty and only stands for a line end. Its line in the file is not replaced. */
  readonly openEnd: boolean;
}

/**
 * Replaces a window by other lines. Lines at both ends that are equal in `asked` and `replacement` are context: the
 * file's own bytes stay there, even where the match ignored a small difference.
 */
export function spliceLines(
  text: string,
  lines: readonly TextLine[],
  { from, asked, openEnd }: LineWindow,
  replacement: readonly string[],
): Splice {
  const { keptStart, keptEnd } = commonEnds(asked, replacement);
  const fresh = replacement.slice(keptStart, replacement.length - keptEnd);
  const last = from + asked.length - keptEnd;
  const start = startOf(text, lines, from + keptStart);
  const eol = eolOfLine(text, lines, from + keptStart);
  if (keptEnd > 0) {
    // The window asks for a line end that the file's last line lacks. The file stays without it.
    const insert = fresh.map((line) => line + eol).join('');
    const pastEnd = last >= lines.length;
    return {
      start,
      end: startOf(text, lines, last),
      insert: pastEnd ? insert.slice(0, -eol.length) : insert,
    };
  }
  const end = openEnd ? startOf(text, lines, last - 1) : (lines[last - 1]?.end ?? text.length);
  return { start, end, insert: fresh.join(eol) };
}

/** The number of lines that both share at each end. Without a common end, at least one line of each is left. */
function commonEnds(
  asked: readonly string[],
  replacement: readonly string[],
): { keptStart: number; keptEnd: number } {
  const shorter = Math.min(asked.length, replacement.length);
  let keptEnd = 0;
  while (keptEnd < shorter && asked.at(-1 - keptEnd) === replacement.at(-1 - keptEnd)) keptEnd++;
  const room = keptEnd > 0 ? shorter - keptEnd : shorter - 1;
  let keptStart = 0;
  while (keptStart < room && asked[keptStart] === replacement[keptStart]) keptStart++;
  return { keptStart, keptEnd };
}

function startOf(text: string, lines: readonly TextLine[], index: number): number {
  return lines[index]?.start ?? text.length;
}
