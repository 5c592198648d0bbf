/** Vectors of texts: stored in a byte for each number, compared with a question's, and joined with the ranking by words. */

/** A vector as the database has it. Its numbers are whole, and `scale` makes its length 1. */
export interface StoredVector {
  readonly id: number;
  readonly scale: number;
  readonly numbers: Uint8Array;
}

/** A byte for each number: a quarter of the space, and the order of the nearest stays nearly the same. */
export function packed(numbers: Float32Array): {
  readonly scale: number;
  readonly bytes: Uint8Array;
} {
  let most = 0;
  let squares = 0;
  for (const number of numbers) {
    most = Math.max(most, Math.abs(number));
    squares += number * number;
  }
  const whole = Int8Array.from(numbers, (number) => Math.round((number / most) * LARGEST));
  const scale = most / LARGEST / Math.sqrt(squares);
  return { scale, bytes: new Uint8Array(whole.buffer) };
}

const LARGEST = 127;

/** The ids of the vectors, the nearest to the question first. Undefined where they are too many for the time. */
export function nearestVectors(
  question: Float32Array,
  pages: Iterable<readonly StoredVector[]>,
  maxMs: number,
): number[] | undefined {
  const until = performance.now() + maxMs;
  const { bytes } = packed(question);
  const found: (readonly [id: number, nearness: number])[] = [];
  for (const page of pages) {
    if (performance.now() > until) return undefined;
    for (const { id, scale, numbers } of page) found.push([id, product(bytes, numbers) * scale]);
  }
  return found.sort((a, b) => b[1] - a[1]).map(([id]) => id);
}

/** Of the whole numbers: with them it takes half the time. */
function product(one: Uint8Array, other: Uint8Array): number {
  const [a, b] = [signed(one), signed(other)];
  let sum = 0;
  for (let at = 0; at < a.length; at++) sum += (a[at] ?? 0) * (b[at] ?? 0);
  return sum;
}

function signed({ buffer, byteOffset, length }: Uint8Array): Int8Array {
  return new Int8Array(buffer, byteOffset, length);
}

/**
 * Joins rankings by their places alone, because scores of words and of vectors cannot be compared (reciprocal rank
 * fusion). Of each ranking the first `most` count.
 */
export function fuse<Item>(
  rankings: readonly (readonly Item[])[],
  most: number,
): (readonly [Item, number])[] {
  const scores = new Map<Item, number>();
  for (const ranking of rankings) {
    for (const [place, item] of ranking.slice(0, most).entries()) {
      scores.set(item, (scores.get(item) ?? 0) + scoreAt(place));
    }
  }
  return [...scores].sort((a, b) => b[1] - a[1]);
}

/** What a place in a ranking counts for; places are counted from 0. */
export function scoreAt(place: number): number {
  return 1 / (FLATNESS + place + 1);
}

/** How little the first places count more than the next ones: the usual number. */
const FLATNESS = 60;
