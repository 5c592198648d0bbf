/** Brings an object's schema up to date. Migrations only go forward. An object without tables was never written to. */
import type { Sql } from './row-meter.ts';

/** Whether the object ever stored anything. Only reads, so that a request for an unknown id leaves no trace. */
export function hasSchema(sql: Sql): boolean {
  return sql.exec("select 1 from sqlite_master where name = 'schema_version'").toArray().length > 0;
}

/** Call it when an object wakes: brings stored tables up to date. Returns whether it ever stored anything. */
export function openStored(sql: Sql, migrations: readonly string[]): boolean {
  const isStored = hasSchema(sql);
  if (isStored) migrate(sql, migrations);
  return isStored;
}

/**
 * Runs the migrations that this object has not had. `migrations[n]` leads from version n to n + 1, and never changes
 * once released. Called before the first write, in the same implicit transaction as that write.
 * @throws with the message {@link NEWER_TABLES} if a newer program has written the tables. They stay as they are.
 */
export function migrate(sql: Sql, migrations: readonly string[]): void {
  // Only if it is missing: once a statement that writes has met a damaged page, the runtime ends the object.
  if (!hasSchema(sql)) sql.exec('create table schema_version (version integer not null)');
  const stored = sql.exec<{ version: number }>('select version from schema_version').toArray()[0];
  const version = stored?.version ?? 0;
  if (version === migrations.length) return;
  if (version > migrations.length) throw new Error(NEWER_TABLES);
  for (const migration of migrations.slice(version)) sql.exec(migration);
  if (stored) sql.exec('update schema_version set version = ?', migrations.length);
  else sql.exec('insert into schema_version (version) values (?)', migrations.length);
}

/** Clients get this message: of an error that leaves an object's constructor, the runtime keeps only the message. */
export const NEWER_TABLES =
  'A newer version of Drawbridge has written this data, and this version cannot read it. Run that version again, or a later one: nothing was changed.';
