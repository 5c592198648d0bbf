/** Removes databases in which nothing was ever stored, or nothing is left: each request for an unknown id makes one. */
import { closeSync, existsSync, openSync, readdirSync, readSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { isSystemError } from '../../machine/system-error.ts';
import { uniqueKeyOf } from './workerd-config.ts';

/**
 * Call it while no process has the storage open. Removes a file only if it is sure to hold no table, and so no row and no
 * alarm, which is a row of the object: one page without a table, and no log with changes. Returns how many it removed.
 */
export function removeEmptyDatabases(storageDir: string): number {
  let removed = 0;
  for (const folder of namesIn(storageDir)) {
    if (!folder.startsWith(uniqueKeyOf(''))) continue;
    for (const name of namesIn(join(storageDir, folder))) {
      const path = join(storageDir, folder, name);
      if (!/^[0-9a-f]{64}\.sqlite$/.test(name) || !isEmpty(path)) continue;
      // The database last: without it, what is left of its log would be one of nothing.
      for (const end of ['-shm', '-wal', '']) rmSync(`${path}${end}`, { force: true });
      removed++;
    }
  }
  return removed;
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch (error) {
    if (isSystemError(error, 'ENOENT', 'ENOTDIR')) return [];
    throw error;
  }
}

/** The fields are those of SQLite's file format, which never changes (https://sqlite.org/fileformat2.html). */
function isEmpty(path: string): boolean {
  const log = `${path}-wal`;
  if (existsSync(log) && statSync(log).size > 0) return false;
  const { size } = statSync(path);
  if (size === 0) return true;
  if (size !== PAGE_BYTES) return false;
  const page = Buffer.alloc(PAGE_BYTES);
  const file = openSync(path, 'r');
  try {
    if (readSync(file, page, 0, PAGE_BYTES, 0) !== PAGE_BYTES) return false;
  } finally {
    closeSync(file);
  }
  const isDatabase = page.toString('latin1', 0, 16) === 'SQLite format 3\0';
  const [freePages, treeType, tables] = [page.readUInt32BE(36), page[100], page.readUInt16BE(103)];
  return isDatabase && freePages === 0 && treeType === LEAF_OF_TABLE && tables === 0;
}

const PAGE_BYTES = 4096;
const LEAF_OF_TABLE = 0x0d;
