/** Cuts a stream of bytes into records that end with a separator, at any chunk boundaries. */
import { Turns } from '../../../machine/compute/turns.ts';
import { SEARCH_LIMITS } from './limits.ts';

/** The beginning of a record that is longer than the limit. */
export class LongRecord {
  readonly head: string;

  constructor(head: string) {
    this.head = head;
  }
}

/** Records that came together: one at a time, they take longer than what is done with them. */
export type Records = readonly (string | LongRecord)[];

/**
 * Yields the records of each chunk without their separators, and also a last record without one. Bytes that are not
 * UTF-8 become U+FFFD. No chunk may be longer than the longest record, as none of a pipe is. Gives the event loop a
 * turn between chunks: a program writes faster than the reader reads, so the loop would otherwise never get one.
 */
export async function* splitRecords(
  chunks: AsyncIterable<Buffer>,
  separator: '\n' | '\0',
): AsyncGenerator<Records, void, undefined> {
  const end = separator.charCodeAt(0);
  const turns = new Turns();
  let pieces: Buffer[] = [];
  let length = 0;
  const take = () => {
    const text = Buffer.concat(pieces).toString('utf8');
    const record = length > SEARCH_LIMITS.maxSearchRecordBytes ? new LongRecord(text) : text;
    [pieces, length] = [[], 0];
    return record;
  };
  const keep = (piece: Buffer) => {
    const wasLong = length > SEARCH_LIMITS.maxSearchRecordBytes;
    length += piece.length;
    if (wasLong) return;
    pieces.push(piece);
    if (length <= SEARCH_LIMITS.maxSearchRecordBytes) return;
    pieces = [Buffer.concat(pieces).subarray(0, SEARCH_LIMITS.maxRecordHeadBytes)];
  };
  const cut = (chunk: Buffer): Records => {
    const first = chunk.indexOf(end);
    if (first === -1) return [];
    keep(chunk.subarray(0, first));
    const begun = take();
    const last = chunk.lastIndexOf(end);
    // None of these is too long.
    const others = last > first ? chunk.toString('utf8', first + 1, last).split(separator) : [];
    return [begun, ...others];
  };
  for await (const chunk of chunks) {
    const records = cut(chunk);
    if (records.length > 0) yield records;
    const rest = chunk.subarray(chunk.lastIndexOf(end) + 1);
    if (rest.length > 0) keep(rest);
    if (turns.isDue) await turns.take();
  }
  if (length > 0) yield [take()];
}
