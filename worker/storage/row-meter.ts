/** Counts the rows that an object writes. The platform bills rows, and counts alarms as rows. */

/** The part of an object's database that statements use. */
export type Sql = Pick<SqlStorage, 'exec'>;

export class RowMeter {
  #rows = 0;

  /** The rows written since this instance began. */
  get rows(): number {
    return this.#rows;
  }

  count(rows: number): void {
    this.#rows += rows;
  }

  /** The same database, with written rows counted. Counts only rows written by the time that `exec` returns. */
  watch(sql: SqlStorage): Sql {
    return {
      exec: <T extends Record<string, SqlStorageValue>>(query: string, ...bindings: unknown[]) => {
        const cursor = sql.exec<T>(query, ...bindings);
        this.#rows += cursor.rowsWritten;
        return cursor;
      },
    };
  }
}
