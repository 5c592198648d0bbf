/** Shifts new lines by the difference in indentation between a file and an edit's old lines. */
import type { AdaptLines } from './match.ts';

/**
 * Fits when one same piece of white space is added to all lines, or removed from all. Also fits when each indentation
 * in the request stands for exactly one in the file, and the new lines use no others (tabs against spaces).
 */
export const shiftIndentation: AdaptLines = (there, asked, replacement) => {
  const pairs = indentationPairs(there, asked);
  const shift = uniformShift(pairs) ?? translation(pairs);
  if (shift === null) return 'other';
  const shifted: string[] = [];
  for (const line of replacement) {
    const moved = line.trim() === '' ? line : shift(line);
    if (moved === null) return 'unfit';
    shifted.push(moved);
  }
  return shifted;
};

/** A line at its new indentation, or null when it has none. */
type Shift = (line: string) => string | null;

interface IndentationPair {
  readonly there: string;
  readonly asked: string;
}

function indentationPairs(there: readonly string[], asked: readonly string[]): IndentationPair[] {
  return asked.flatMap((line, index) =>
    line.trim() === ''
      ? []
      : [{ there: indentationOf(there[index] ?? ''), asked: indentationOf(line) }],
  );
}

function indentationOf(line: string): string {
  return line.slice(0, line.length - line.trimStart().length);
}

function uniformShift(pairs: readonly IndentationPair[]): Shift | null {
  const first = pairs[0];
  if (first === undefined) return null;
  const added = leadOf(first.there, first.asked);
  if (added !== null && pairs.every(({ there, asked }) => there === added + asked)) {
    return (line) => added + line;
  }
  const removed = leadOf(first.asked, first.there);
  if (removed !== null && pairs.every(({ there, asked }) => asked === removed + there)) {
    return (line) => (line.startsWith(removed) ? line.slice(removed.length) : null);
  }
  return null;
}

/** The part of the longer indentation before the shorter one. */
function leadOf(longer: string, shorter: string): string | null {
  return longer.endsWith(shorter) ? longer.slice(0, longer.length - shorter.length) : null;
}

function translation(pairs: readonly IndentationPair[]): Shift | null {
  const byAsked = new Map<string, string>();
  for (const { there, asked } of pairs) {
    if ((byAsked.get(asked) ?? there) !== there) return null;
    byAsked.set(asked, there);
  }
  return (line) => {
    const indentation = byAsked.get(indentationOf(line));
    return indentation === undefined ? null : indentation + line.trimStart();
  };
}
