/** Waits for the end of what a program writes. */
import type { Readable } from 'node:stream';
import { finished } from 'node:stream/promises';

/** Gives the stream up after `limitMs`: a process that left its group may hold the other end open for ever. */
export async function endOf(stream: Readable, limitMs: number): Promise<void> {
  const limit = setTimeout(() => stream.destroy(), limitMs);
  await finished(stream, { writable: false }).catch(() => {}); // Given up, or broken: there is no more to read.
  clearTimeout(limit);
  stream.destroy();
}
