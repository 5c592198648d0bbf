/** The rows of a conversation's large images: pieces of base64 by their SHA-256. */
import type { Sql } from '../../storage/row-meter.ts';
import { firstRow, insertRow } from '../../storage/statements.ts';

/** The synchronous statements of the table `images`. The tables must be there. */
export class ImageStore {
  readonly #sql: Sql;

  constructor(sql: Sql) {
    this.#sql = sql;
  }

  /** The length of a piece; null where it is not there. */
  charsOf(digest: string): number | null {
    const query = 'select chars from images where digest = ?';
    return firstRow<{ chars: number }>(this.#sql, query, digest)?.chars ?? null;
  }

  /** Of all pieces. */
  get chars(): number {
    const query = 'select coalesce(sum(chars), 0) as chars from images';
    return this.#sql.exec<{ chars: number }>(query).one().chars;
  }

  /** `run`: the first that a fork must have to need it. A piece that is there stays as it is. */
  insert(digest: string, run: number, body: string): void {
    const row = { digest, run, chars: body.length, body };
    insertRow(this.#sql, 'images', row, 'on conflict (digest) do nothing');
  }

  read(digest: string): string | null {
    const query = 'select body from images where digest = ?';
    return firstRow<{ body: string }>(this.#sql, query, digest)?.body ?? null;
  }

  delete(digests: readonly string[]): void {
    for (const digest of digests) this.#sql.exec('delete from images where digest = ?', digest);
  }
}
