/** The tables of an object that stores nothing before its first write. */
import { isDamage } from './damage.ts';
import { migrate, openStored } from './migrations.ts';
import type { StoredRow } from './statements.ts';

export class Tables {
  readonly #sql: SqlStorage;
  readonly #migrations: readonly string[];
  #isStored = false;
  /** Why nothing can be read or written until {@link makeAgain}. The object lives, so that it can be emptied. */
  #damage: unknown = null;

  constructor(sql: SqlStorage, migrations: readonly string[]) {
    this.#sql = sql;
    this.#migrations = migrations;
    try {
      this.#isStored = openStored(sql, migrations);
    } catch (error) {
      if (!isDamage(error)) throw error;
      this.#damage = error;
    }
  }

  /** For statements that read; null where nothing is stored. */
  get stored(): SqlStorage | null {
    if (this.#damage) throw this.#damage;
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
    if (this.#damage) throw this.#damage;
    if (!this.#isStored) this.makeAgain();
  }

  /** To be called when everything was deleted, and some of it is to be written again. */
  makeAgain(): void {
    migrate(this.#sql, this.#migrations);
    this.#isStored = true;
    this.#damage = null;
  }
}
