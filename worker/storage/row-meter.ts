/** Counting what an object writes: rows are what the platform bills, and alarms count as rows. */

/** What statements need of an object's database. */
export type Sql = Pick<SqlStorage, 'exec'>;

export class RowMeter {
  #rows = 0;

  /** Since this instance began. */
  get rows(): number {
    return this.#rows;
  }

  count(rows: number): void {
    this.#rows += rows;
  }

  /** The same database, with every statement counted that has written when it returns; those that return rows read. */
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
