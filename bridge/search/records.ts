/** Cuts a stream of bytes into records that end with a separator, at any chunk boundaries. */
import { TOOL_LIMITS } from '../../shared/limits.ts';
import { Turns } from '../compute/turns.ts';

/**
 * Yields each record without its separator, and also a last record without one. Null stands for a record longer than
 * the limit. Bytes that are not UTF-8 become U+FFFD. Gives the event loop a turn between records: a program writes
 * faster than the reader reads, so the loop would otherwise never get one.
 */
export async function* splitRecords(
  chunks: AsyncIterable<Buffer>,
  separator: '\n' | '\0',
): AsyncGenerator<string | null, void, undefined> {
  const end = separator.charCodeAt(0);
  const turns = new Turns();
  let pieces: Buffer[] = [];
  let length = 0;
  const take = () => {
    const record =
      length > TOOL_LIMITS.maxSearchRecordBytes ? null : Buffer.concat(pieces).toString('utf8');
    [pieces, length] = [[], 0];
    return record;
  };
  const keep = (piece: Buffer) => {
    length += piece.length;
    if (length <= TOOL_LIMITS.maxSearchRecordBytes) pieces.push(piece);
    else pieces = [];
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
