/** Files that only their owner may read, written so that no reader ever meets half of one. */
import { link, mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { isSystemError } from './local-error.ts';

const OWNER_ONLY_FILE = 0o600;
const OWNER_ONLY_DIR = 0o700;

/** Makes a folder and its missing parents, all for their owner only. One that exists stays as it is. */
export async function makePrivateDir(path: string): Promise<void> {
  await mkdir(path, { recursive: true, mode: OWNER_ONLY_DIR });
}

/** The file's text, or undefined if there is none. */
export async function readIfThere(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    if (isSystemError(error, 'ENOENT')) return undefined;
    throw error;
  }
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
  return await readFile(path, 'utf8');
}

/** Writes the file whole, in place of whatever was there. */
export async function replaceFile(path: string, text: string): Promise<void> {
  await rename(await writeBeside(path, text), path);
}

async function writeBeside(path: string, text: string): Promise<string> {
  const temporary = `${path}.${crypto.randomUUID()}.tmp`;
  // Flushed: else a loss of power soon after can leave the name with nothing in it.
  await writeFile(temporary, text, { flag: 'wx', mode: OWNER_ONLY_FILE, flush: true });
  return temporary;
}
