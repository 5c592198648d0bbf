/**
 * Finds a text, or a run of lines, in another. The time grows with the sum of the two lengths, never with their
 * product.
 */

/** The offsets of `search` in `text`, overlaps included, at most `most`. */
export function offsetsOf(text: string, search: string, most: number): number[] {
  if (text.length * search.length > MOST_COMPARISONS) {
    return startsOfRuns(unitsOf(text), unitsOf(search), most);
  }
  const found: number[] = [];
  for (let start = text.indexOf(search); start !== -1; start = text.indexOf(search, start + 1)) {
    if (found.push(start) === most) break;
  }
  return found;
}

/**
 * `indexOf` is by far the fastest for usual texts, and the slowest for a long text that nearly matches everywhere. It
 * is used up to this many comparisons, which take some milliseconds.
 */
const MOST_COMPARISONS = 2 ** 24;

function unitsOf(text: string): Uint16Array {
  const units = new Uint16Array(text.length);
  for (let at = 0; at < text.length; at++) units[at] = text.charCodeAt(at);
  return units;
}

/** The indexes of lines where a run of lines has the requested keys, overlaps included, at most `most`. */
export function windowsOf(
  keys: readonly string[],
  asked: readonly string[],
  most: number,
): number[] {
  const ids = new Map<string, number>();
  for (const key of asked) if (!ids.has(key)) ids.set(key, ids.size);
  const idsOf = (lines: readonly string[]) => Int32Array.from(lines, (key) => ids.get(key) ?? -1);
  return startsOfRuns(idsOf(keys), idsOf(asked), most);
}

/** Knuth-Morris-Pratt: after a mismatch it continues with the longest beginning that it has already matched. */
function startsOfRuns(there: ArrayLike<number>, search: ArrayLike<number>, most: number): number[] {
  const found: number[] = [];
  if (search.length === 0) return found;
  const borders = bordersOf(search);
  let seen = 0;
  for (let at = 0; at < there.length && found.length < most; at++) {
    while (seen > 0 && there[at] !== search[seen]) seen = borders[seen - 1] as number;
    if (there[at] === search[seen]) seen++;
    if (seen < search.length) continue;
    found.push(at + 1 - seen);
    seen = borders[seen - 1] as number;
  }
  return found;
}

/** For every beginning of the search: the length of its longest proper beginning that is also its end. */
function bordersOf(search: ArrayLike<number>): Int32Array {
  const borders = new Int32Array(search.length);
  let seen = 0;
  for (let at = 1; at < search.length; at++) {
    while (seen > 0 && search[at] !== search[seen]) seen = borders[seen - 1] as number;
    if (search[at] === search[seen]) seen++;
    borders[at] = seen;
  }
  return borders;
}
