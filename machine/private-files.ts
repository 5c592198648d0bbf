/** Files that only their owner may read, written so that no reader ever meets half of one. */
import { constants } from 'node:fs';
import { link, mkdir, open, rename, rm, writeFile } from 'node:fs/promises';
import { isSystemError, LocalError } from '../local/local-error.ts';
import { LOCAL_LIMITS } from '../shared/limits.ts';

const OWNER_ONLY_FILE = 0o600;
const OWNER_ONLY_DIR = 0o700;

/** Makes a folder and its missing parents, all for their owner only. One that exists stays as it is. */
export async function makePrivateDir(path: string): Promise<void> {
  await mkdir(path, { recursive: true, mode: OWNER_ONLY_DIR });
}

/**
 * The file's text, or undefined if there is none.
 * @throws {LocalError} for what is no file of ours: a folder, something that would be waited for, or far too much.
 */
export async function readIfThere(path: string): Promise<string | undefined> {
  try {
    // Without waiting: a FIFO would keep us until somebody writes to it.
    await using file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
    const stats = await file.stat();
    if (stats.isFile() && stats.size <= LOCAL_LIMITS.maxStateFileBytes) {
      return await file.readFile('utf8');
    }
  } catch (error) {
    if (isSystemError(error, 'ENOENT')) return undefined;
    throw error;
  }
  const text = `${path} is not a file that Drawbridge has written: move it away, and a new one is made.`;
  throw new LocalError('refused', text);
}

/** The file's text; without one, `make` gives it. When two processes make it at once, both get the same text. */
export async function readOrCreate(
  path: string,
  make: () => string | Promise<string>,
): Promise<string> {
  const text = await readIfThere(path);
  if (text !== undefined) return text;
  const temporary = await writeBeside(path, await make());
  try {
    // A link fails where a rename would replace what another process has just made.
    await link(temporary, path);
  } catch (error) {
    if (!isSystemError(error, 'EEXIST')) throw error;
  } finally {
    await rm(temporary);
  }
  return (await readIfThere(path)) ?? (await readOrCreate(path, make));
}

/** Writes the file whole, in place of whatever was there. */
export async function replaceFile(path: string, text: string): Promise<void> {
  await rename(await writeBeside(path, text), path);
}

async function writeBeside(path: string, text: string): Promise<string> {
  const temporary = `${path}.${crypto.randomUUID()}.tmp`;
  try {
    // Flushed: else a loss of power soon after can leave the name with nothing in it.
    await writeFile(temporary, text, { flag: 'wx', mode: OWNER_ONLY_FILE, flush: true });
  } catch (error) {
    // The disk is full, say: what there is of it would take up room.
    await rm(temporary, { force: true });
    throw error;
  }
  return temporary;
}
