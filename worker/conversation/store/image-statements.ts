/** The rows of a conversation's large images: pieces of base64 by their SHA-256. */
import type { Sql } from '../../storage/row-meter.ts';
import { firstRow, insertRow } from '../../storage/statements.ts';

/** The synchronous statements of the table `images`. The tables must be there for writing. */
export class ImageStore {
  readonly #sql: Sql;

  constructor(sql: Sql) {
    this.#sql = sql;
  }

  has(digest: string): boolean {
    return firstRow(this.#sql, 'select 1 from images where digest = ?', digest) !== undefined;
  }

  /** `run`: the first that a fork must have to need it. A piece that is there stays as it is. */
  insert(digest: string, run: number, body: string): void {
    insertRow(this.#sql, 'images', { digest, run, body }, 'on conflict (digest) do nothing');
  }

  read(digest: string): string | null {
    const row = firstRow<{ body: string }>(
      this.#sql,
      'select body from images where digest = ?',
      digest,
    );
    return row?.body ?? null;
  }
}
