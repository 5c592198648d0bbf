/** Files that only their owner may read. A file always holds the old text or the new one, even after a crash. */
import { randomUUID } from 'node:crypto';
import {
  closeSync,
  constants,
  fchownSync,
  fsyncSync,
  linkSync,
  mkdirSync,
  openSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { open } from 'node:fs/promises';
import { dirname } from 'node:path';
import { MIB } from '../shared/units.ts';
import { LocalError } from './local-error.ts';
import { isSystemError } from './system-error.ts';

/** Modes of our files and folders: only their owner reads them. */
export const PRIVATE_FILE = 0o600;
export const PRIVATE_FOLDER = 0o700;

/** Bytes of a file that is read whole. Ours have some hundreds; a command could make one that fills the memory. */
const MAX_FILE_BYTES = 4 * MIB;

/** Makes a folder of ours, if it is not there. Its parent must be: if that was deleted, our keys went with it. */
export function makePrivateFolder(path: string): void {
  try {
    mkdirSync(path, { mode: PRIVATE_FOLDER });
    giveFolderToOwner(path);
  } catch (error) {
    if (!isSystemError(error, 'EEXIST')) throw error;
  }
}

/**
 * Makes a folder and its missing parents, for the first start. An existing folder stays as it is. One after the other:
 * Node's own `recursive` never returns for a place such as `/proc/nowhere`.
 */
export function makePrivateFolders(path: string): void {
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory()) return;
  if (dirname(path) !== path) makePrivateFolders(dirname(path));
  try {
    mkdirSync(path, { mode: PRIVATE_FOLDER });
    giveFolderToOwner(path);
  } catch (error) {
    if (!statSync(path, { throwIfNoEntry: false })?.isDirectory()) throw error;
  }
}

/**
 * Writes the whole file and replaces an old one. When it returns, the new text survives a loss of power. Synchronous,
 * so that no other code of this process runs in between. The folder must exist.
 */
export function replaceFile(path: string, text: string): void {
  const temporary = writeBeside(path, text);
  try {
    renameSync(temporary, path);
  } finally {
    rmSync(temporary, { force: true });
  }
  flushFolder(dirname(path));
}

/** The file's text. Without a file, `make` provides it. Two processes that make it at once get the same text. */
export async function readOrCreate(
  path: string,
  make: () => string | Promise<string>,
): Promise<string> {
  const text = await readIfThere(path);
  if (text !== undefined) return text;
  const temporary = writeBeside(path, await make());
  try {
    // `link` fails where `rename` would replace a file that another process has just made.
    linkSync(temporary, path);
  } catch (error) {
    if (!isSystemError(error, 'EEXIST')) throw error;
  } finally {
    rmSync(temporary, { force: true });
  }
  return (await readIfThere(path)) ?? (await readOrCreate(path, make));
}

/** The text of a file of ours, if there is one. @throws {LocalError} for a folder, a pipe or a far too large file. */
export async function readIfThere(path: string): Promise<string | undefined> {
  try {
    return await readPlainFile(path);
  } catch (error) {
    if (isSystemError(error, 'ENOENT')) return undefined;
    if (!isSystemError(error, 'EINVAL', 'EFBIG', 'EISDIR')) throw error;
    const text = `${path} is not a file that Drawbridge has written: move it away, and a new one is made.`;
    throw new LocalError('refused', text);
  }
}

/**
 * The text of a regular file of which only the name is known, and which a command may have made. Never waits, and never
 * fills the memory. Follows links. Throws `EINVAL` for anything but a regular file, and `EFBIG` for a file that is too
 * large.
 */
export async function readPlainFile(path: string): Promise<string> {
  // Reading a pipe would block one of Node's few threads until a program writes to it.
  await using file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
  const stats = await file.stat();
  if (!stats.isFile()) throw systemError('EINVAL', `${path} is not a regular file`);
  if (stats.size > MAX_FILE_BYTES) throw systemError('EFBIG', `${path} is too large`);
  return await file.readFile('utf8');
}

function systemError(code: string, message: string): Error {
  return Object.assign(new Error(message), { code });
}

/** The file that a restore from a backup leaves beside a bridge's journal. */
export function restoreMarkOf(journalPath: string): string {
  return `${journalPath}.restored`;
}

/** Writes a new file in the same folder and returns its path. Removes the part that a full disk took. */
function writeBeside(path: string, text: string): string {
  const temporary = `${path}.${randomUUID()}.tmp`;
  const file = openSync(temporary, 'wx', PRIVATE_FILE);
  try {
    writeFileSync(file, text);
    giveToOwner(file, dirname(path));
    fsyncSync(file);
  } catch (error) {
    rmSync(temporary, { force: true });
    throw error;
  } finally {
    closeSync(file);
  }
  return temporary;
}

function giveFolderToOwner(path: string): void {
  if (process.getuid?.() !== 0) return;
  // Never follows a link that the owner may put there meanwhile.
  const folder = openSync(path, constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW);
  try {
    giveToOwner(folder, dirname(path));
  } finally {
    closeSync(folder);
  }
}

/** What root makes in the state of a service belongs to the service, which could not read or back it up otherwise. */
export function giveToOwner(file: number, folder: string): void {
  if (process.getuid?.() !== 0) return;
  const { uid, gid } = statSync(folder);
  if (uid !== 0) fchownSync(file, uid, gid);
}

/** A rename is on disk once its folder is. */
export function flushFolder(path: string): void {
  const folder = openSync(path, 'r');
  try {
    fsyncSync(folder);
  } finally {
    closeSync(folder);
  }
}
