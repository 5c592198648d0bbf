/** How much of a computation takes a few milliseconds at most. Measured; a thread takes 100 ms to start. */
import { KIB } from '../../shared/units.ts';

/** Linear work over this many bytes takes some 2 ms. */
export const LIGHT_BYTES = 64 * KIB;

/** The fine diff of changed lines grows with the square of the lines: these take about 6 ms. */
export const LIGHT_CHANGED_LINES = 500;

/** A notebook becomes a tree of its values several times: this many bytes take some 4 ms. */
export const LIGHT_NOTEBOOK_BYTES = 16 * KIB;

/** Whether both bounds hold for all texts together. */
export function isFewLines(texts: readonly (Uint8Array | string)[]): boolean {
  const size = texts.reduce((sum, { length }) => sum + length, 0);
  return size <= LIGHT_BYTES && countLineEnds(texts) <= LIGHT_CHANGED_LINES;
}

/** The line ends in all texts together. */
export function countLineEnds(texts: readonly (Uint8Array | string)[]): number {
  let lines = 0;
  for (const text of texts) {
    const next = (from: number) =>
      typeof text === 'string' ? text.indexOf('\n', from) : text.indexOf(LINE_END, from);
    for (let at = next(0); at !== -1; at = next(at + 1)) lines++;
  }
  return lines;
}

const LINE_END = 0x0a;
