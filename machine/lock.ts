/**
 * The lock of a state folder, held by the one `up` that runs on it. The system holds it for a process and lets go of
 * it when the process ends, however it ends; so there is no stale lock, and no pid that another program may have now.
 */
import { statSync, truncateSync, writeFileSync } from 'node:fs';
import { DatabaseSync, type DatabaseSyncOptions } from 'node:sqlite';
import { LocalError } from '../local/local-error.ts';
import { LOCAL_LIMITS } from '../shared/limits.ts';

/** Of SQLite's result codes: somebody else has the lock, and what is in the file is none of SQLite's. */
const BUSY = 5;
const NOT_A_DATABASE = 26;

/**
 * Takes the lock until it is disposed of. Undefined if another process holds it.
 * @throws {LocalError} if there is something in its place that is no file of ours.
 */
export function takeLock(path: string): Disposable | undefined {
  if (!isThere(path)) writeFileSync(path, '', { mode: 0o600 });
  const database = openLock(path, { timeout: LOCAL_LIMITS.lockWaitMs });
  try {
    // Garbage is found only where nobody has the lock. Nothing is kept in the file, so it is emptied and asked again.
    let answer = tryExec(database, 'BEGIN EXCLUSIVE');
    if (answer === NOT_A_DATABASE) {
      truncateSync(path);
      answer = tryExec(database, 'BEGIN EXCLUSIVE');
    }
    if (answer === 0) return { [Symbol.dispose]: () => database.close() };
    database.close();
    return undefined;
  } catch (error) {
    database.close();
    throw unusable(path, error);
  }
}

/** Whether some process holds the lock. @throws {LocalError} as {@link takeLock}. */
export function isLocked(path: string): boolean {
  if (!isThere(path)) return false;
  const database = openLock(path, { readOnly: true });
  try {
    return tryExec(database, 'SELECT * FROM sqlite_schema') === BUSY;
  } catch (error) {
    throw unusable(path, error);
  } finally {
    database.close();
  }
}

/** Looked at first: SQLite would wait for ever at a FIFO. */
function isThere(path: string): boolean {
  const stats = statSync(path, { throwIfNoEntry: false });
  if (stats && !stats.isFile()) throw unusable(path);
  return stats !== undefined;
}

function openLock(path: string, options: DatabaseSyncOptions): DatabaseSync {
  try {
    return new DatabaseSync(path, options);
  } catch (error) {
    throw unusable(path, error);
  }
}

/** SQLite's result code: 0, or one of the two that are expected. */
function tryExec(database: DatabaseSync, sql: string): number {
  try {
    database.exec(sql);
    return 0;
  } catch (error) {
    if (!(error instanceof Error && 'errcode' in error)) throw error;
    if (error.errcode === BUSY || error.errcode === NOT_A_DATABASE) return error.errcode;
    throw error;
  }
}

function unusable(path: string, cause?: unknown): LocalError {
  const reason = cause instanceof Error ? cause.message : 'it is not a file';
  const text = `The lock ${path} cannot be used (${reason}): make sure that the disk has room and that you may write there, or move it away.`;
  return new LocalError('failed', text, { cause });
}
