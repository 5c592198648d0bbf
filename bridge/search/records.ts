/** Cuts a stream of bytes into records that end with a separator, at any chunk boundaries. */
import { TOOL_LIMITS } from '../../shared/limits.ts';
import { Turns } from '../compute/turns.ts';

/** The beginning of a record that is longer than the limit. */
export class LongRecord {
  readonly head: string;

  constructor(head: string) {
    this.head = head;
  }
}

/**
 * Yields each record without its separator, and also a last record without one. Bytes that are not UTF-8 become U+FFFD.
 * Gives the event loop a turn between records: a program writes faster than the reader reads, so the loop would
 * otherwise never get one.
 */
export async function* splitRecords(
  chunks: AsyncIterable<Buffer>,
  separator: '\n' | '\0',
): AsyncGenerator<string | LongRecord, void, undefined> {
  const end = separator.charCodeAt(0);
  const turns = new Turns();
  let pieces: Buffer[] = [];
  let length = 0;
  const take = () => {
    const text = Buffer.concat(pieces).toString('utf8');
    const record = length > TOOL_LIMITS.maxSearchRecordBytes ? new LongRecord(text) : text;
    [pieces, length] = [[], 0];
    return record;
  };
  const keep = (piece: Buffer) => {
    const wasLong = length > TOOL_LIMITS.maxSearchRecordBytes;
    length += piece.length;
    if (wasLong) return;
    pieces.push(piece);
    if (length <= TOOL_LIMITS.maxSearchRecordBytes) return;
    pieces = [Buffer.concat(pieces).subarray(0, TOOL_LIMITS.maxRecordHeadBytes)];
  };
  for await (const chunk of chunks) {
    let start = 0;
    for (let at = chunk.indexOf(end); at !== -1; at = chunk.indexOf(end, start)) {
      keep(chunk.subarray(start, at));
      yield take();
      if (turns.isDue) await turns.take();
      start = at + 1;
    }
    if (start < chunk.length) keep(chunk.subarray(start));
  }
  if (length > 0) yield take();
}
