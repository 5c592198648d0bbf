/** Replaces files of our own state: private, and either the old content or the new one, whatever happens. */
import { randomUUID } from 'node:crypto';
import {
  closeSync,
  fsyncSync,
  mkdirSync,
  openSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { dirname } from 'node:path';
import { isSystemError } from '../bridge/failure.ts';

/** Only the user reads what we keep. */
export const PRIVATE_FILE = 0o600;
export const PRIVATE_FOLDER = 0o700;

/**
 * When it returns, the new content would survive a loss of power. The folder must be there: one that was deleted took our
 * keys along, and is not to come back without them. Synchronous, so that nothing else of this process comes between.
 */
export function replaceStateFile(path: string, text: string): void {
  const folder = dirname(path);
  const temporary = `${path}.${randomUUID()}.tmp`;
  try {
    writeFileSync(temporary, text, { flag: 'wx', mode: PRIVATE_FILE, flush: true });
    renameSync(temporary, path);
  } finally {
    rmSync(temporary, { force: true });
  }
  syncFolder(folder);
}

/** Makes a folder of ours, if it is not there. The one around it must be: see {@link replaceStateFile}. */
export function makeStateFolder(path: string): void {
  try {
    mkdirSync(path, { mode: PRIVATE_FOLDER });
  } catch (error) {
    if (!isSystemError(error, 'EEXIST')) throw error;
  }
}

/** A rename is on disk when its folder is. */
function syncFolder(path: string): void {
  const folder = openSync(path, 'r');
  try {
    fsyncSync(folder);
  } finally {
    closeSync(folder);
  }
}
