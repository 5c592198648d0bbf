/** The one way an edit changes a text: pieces cut out by offset and others put in, literally. */
import { eolOfLine, type Line } from './lines.ts';

/** Puts `insert` in place of the text from `start` to `end`. */
export interface Splice {
  readonly start: number;
  readonly end: number;
  readonly insert: string;
}

/** Applies splices that are in order and do not overlap. Nothing in `insert` has a meaning of its own. */
export function applySplices(text: string, splices: readonly Splice[]): string {
  const pieces: string[] = [];
  let position = 0;
  for (const { start, end, insert } of splices) {
    pieces.push(text.slice(position, start), insert);
    position = end;
  }
  return pieces.join('') + text.slice(position);
}

/** A run of lines to be replaced: `asked` says line by line what the edit believes to stand there. */
export interface LineWindow {
  /** Index of the first line. */
  readonly from: number;
  readonly asked: readonly string[];
  /** The last of `asked` is what follows a line end, not a line: it is empty, and nothing of its line is replaced. */
  readonly openEnd: boolean;
}

/**
 * Replaces a window by other lines. Lines at both ends that the edit repeats from what it asked for are context: the
 * file's own bytes stay there, whatever small difference the match overlooked.
 */
export function spliceLines(
  text: string,
  lines: readonly Line[],
  { from, asked, openEnd }: LineWindow,
  replacement: readonly string[],
): Splice {
  const { keptStart, keptEnd } = commonEnds(asked, replacement);
  const fresh = replacement.slice(keptStart, replacement.length - keptEnd);
  const last = from + asked.length - keptEnd;
  const start = startOf(text, lines, from + keptStart);
  const eol = eolOfLine(text, lines, from + keptStart);
  if (keptEnd > 0) {
    // A window that asks for a line end the file's last line does not have leaves the file without it.
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

/** How many lines both begin and end with; at least one line of each is left when no common end delimits them. */
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

function startOf(text: string, lines: readonly Line[], index: number): number {
  return lines[index]?.start ?? text.length;
}
