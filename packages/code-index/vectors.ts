/** Vectors of texts: stored in a byte for each number, and compared with a question's. */

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

/**
 * How near each vector is to the question, the nearest first, by its id: from 0 (the mean of all, or farther) to 1 (the
 * nearest). Undefined where they are too many for the time.
 */
export function nearestVectors(
  question: Float32Array,
  pages: Iterable<readonly StoredVector[]>,
  maxMs: number,
): Map<number, number> | undefined {
  const until = performance.now() + maxMs;
  const { bytes } = packed(question);
  const found: (readonly [id: number, nearness: number])[] = [];
  let sum = 0;
  for (const page of pages) {
    if (performance.now() > until) return undefined;
    for (const { id, scale, numbers } of page) {
      const nearness = product(bytes, numbers) * scale;
      found.push([id, nearness]);
      sum += nearness;
    }
  }
  found.sort((a, b) => b[1] - a[1]);
  const mean = sum / found.length;
  const range = (found[0]?.[1] ?? 0) - mean || 1;
  return new Map(found.map(([id, nearness]) => [id, Math.max(0, (nearness - mean) / range)]));
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
