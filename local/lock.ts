/**
 * The lock of a state folder, held by the one `up` that runs on it. The system holds it for a process and lets go of
 * it when the process ends, however it ends; so there is no stale lock, and no pid that another program may have now.
 */
import { existsSync, writeFileSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { LOCAL_LIMITS } from '../shared/limits.ts';

/** `SQLITE_BUSY`: somebody else has the lock. */
const BUSY = 5;

/** Takes the lock until it is disposed of. Undefined if another process holds it. */
export function takeLock(path: string): Disposable | undefined {
  if (!existsSync(path)) writeFileSync(path, '', { mode: 0o600 });
  const database = new DatabaseSync(path, { timeout: LOCAL_LIMITS.lockWaitMs });
  if (tryExec(database, 'BEGIN EXCLUSIVE')) return { [Symbol.dispose]: () => database.close() };
  database.close();
  return undefined;
}

/** Whether some process holds the lock. */
export function isLocked(path: string): boolean {
  if (!existsSync(path)) return false;
  const database = new DatabaseSync(path, { readOnly: true });
  try {
    return !tryExec(database, 'SELECT * FROM sqlite_schema');
  } finally {
    database.close();
  }
}

/** False if the lock is taken. */
function tryExec(database: DatabaseSync, sql: string): boolean {
  try {
    database.exec(sql);
    return true;
  } catch (error) {
    if (error instanceof Error && 'errcode' in error && error.errcode === BUSY) return false;
    throw error;
  }
}
