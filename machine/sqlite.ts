/** Loads Node's own SQLite, which Node has from 22.13 on. */

/** What is used of `node:sqlite`. Node 20, whose types the program has, does not know it. */
export interface Sqlite {
  readonly DatabaseSync: new (path: string, options?: { readonly readOnly?: boolean }) => Database;
}

export interface Database {
  prepare(sql: string): Statement;
  exec(sql: string): void;
  close(): void;
}

export interface Statement {
  run(...values: readonly SqlValue[]): { readonly lastInsertRowid: number | bigint };
  get(...values: readonly SqlValue[]): SqlRow | undefined;
  all(...values: readonly SqlValue[]): SqlRow[];
}

export type SqlValue = string | number | bigint | null | Uint8Array;
export type SqlRow = Record<string, SqlValue>;

/** Why there is no SQLite, for a person. */
export const NO_SQLITE = `Node ${process.versions.node} has no SQLite, Node 22.13 or newer has it`;

/** Undefined in a Node without it. Node 22 prints a warning that the module is experimental. */
export function loadSqlite(): Sqlite | undefined {
  const { emitWarning } = process;
  process.emitWarning = () => {};
  try {
    return process.getBuiltinModule('node:sqlite') as Sqlite | undefined;
  } finally {
    process.emitWarning = emitWarning;
  }
}
