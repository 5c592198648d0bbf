/** The tables of an object that stores nothing before its first write. */
import { migrate, openStored } from './migrations.ts';
import type { StoredRow } from './statements.ts';

export class Tables {
  readonly #sql: SqlStorage;
  readonly #migrations: readonly string[];
  #isStored: boolean;

  constructor(sql: SqlStorage, migrations: readonly string[]) {
    this.#sql = sql;
    this.#migrations = migrations;
    this.#isStored = openStored(sql, migrations);
  }

  /** For statements that read; null where nothing is stored. */
  get stored(): SqlStorage | null {
    return this.#isStored ? this.#sql : null;
  }

  /** The rows of a query; none where nothing is stored. */
  read<Row extends StoredRow>(query: string, ...bindings: SqlStorageValue[]): Row[] {
    return this.stored?.exec<Row>(query, ...bindings).toArray() ?? [];
  }

  /** For statements that write: makes the tables before the first one. */
  get written(): SqlStorage {
    this.prepare();
    return this.#sql;
  }

  prepare(): void {
    if (!this.#isStored) this.makeAgain();
  }

  /** To be called when everything was deleted, and some of it is to be written again. */
  makeAgain(): void {
    migrate(this.#sql, this.#migrations);
    this.#isStored = true;
  }
}
