/** The statements that every table needs. Their tables and columns have this project's own names, so the SQL is safe. */
import type { Sql } from './row-meter.ts';

/** A row by its columns. */
export type StoredRow = Record<string, SqlStorageValue>;

/** Inserts a row. `otherwise` is what the statement says about a row that is there already. */
export function insertRow(
  sql: Sql,
  table: string,
  row: Readonly<StoredRow>,
  otherwise = '',
): { readonly rowsWritten: number } {
  const columns = Object.keys(row);
  const places = columns.map(() => '?').join(', ');
  return sql.exec(
    `insert into ${table} (${columns.join(', ')}) values (${places}) ${otherwise}`,
    ...Object.values(row),
  );
}

/** Changes the columns of all rows, or of those that `which` takes (`where id = ?`). */
export function updateRows(
  sql: Sql,
  table: string,
  changed: Readonly<StoredRow>,
  which = '',
  ...bindings: SqlStorageValue[]
): void {
  const columns = Object.keys(changed).map((column) => `${column} = ?`);
  const values = [...Object.values(changed), ...bindings];
  sql.exec(`update ${table} set ${columns.join(', ')} ${which}`, ...values);
}

/** The first row of a query; undefined without one. */
export function firstRow<Row extends StoredRow>(
  sql: Sql,
  query: string,
  ...bindings: SqlStorageValue[]
): Row | undefined {
  return sql.exec<Row>(query, ...bindings).toArray()[0];
}
