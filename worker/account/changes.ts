/** The numbers of an account's changes: a reader that has seen number N needs what changed after it, as it is now. */
import { firstRow, insertRow } from '../storage/statements.ts';
import { CHANGE_LIMITS } from './limits.ts';

/** A ring of the last CHANGE_LIMITS.kept changes: a change costs one row. `id` is a conversation or a bridge. */
export const CHANGE_TABLE =
  'create table changes (slot integer primary key, number integer not null, id text not null);';

/** Something that changed, with the number of its last change. */
export interface Change extends Record<string, SqlStorageValue> {
  readonly id: string;
  readonly number: number;
}

/** Only for stored tables. Numbers nothing until the first reader, so an account that no one follows pays nothing. */
export class Changes {
  readonly #sql: SqlStorage;
  /** The lowest number after the last restore of a backup: numbers below it mean a future that was taken back. */
  readonly #first: number;
  /** The newest number that is stored, 0 without one; null until it is read. */
  #stored: number | null = null;

  constructor(sql: SqlStorage, first: number) {
    this.#sql = sql;
    this.#first = first;
  }

  get newest(): number {
    return Math.max(this.#newestStored, this.#first);
  }

  /** Numbers the changes from now on. */
  begin(): void {
    if (this.#newestStored === 0) this.#write('');
  }

  /** The number of this change; null while nothing is numbered. */
  add(id: string): number | null {
    return this.#newestStored === 0 ? null : this.#write(id);
  }

  /** What changed after the number, the last change last. Null where that is not known any more. */
  after(number: number): Change[] | null {
    const query = 'select coalesce(min(number), 0) as oldest from changes';
    const row = firstRow<{ oldest: number }>(this.#sql, query);
    const oldest = Math.max(row?.oldest ?? 0, this.#first, 1);
    if (number < oldest || number > this.newest) return null;
    return this.#sql
      .exec<Change>(
        'select id, max(number) as number from changes where number > ? group by id order by 2',
        number,
      )
      .toArray();
  }

  get #newestStored(): number {
    this.#stored ??= this.#sql
      .exec<{ newest: number }>('select coalesce(max(number), 0) as newest from changes')
      .one().newest;
    return this.#stored;
  }

  #write(id: string): number {
    const number = this.newest + 1;
    const replace = 'on conflict (slot) do update set number = excluded.number, id = excluded.id';
    insertRow(this.#sql, 'changes', { slot: number % CHANGE_LIMITS.kept, number, id }, replace);
    this.#stored = number;
    return number;
  }
}
