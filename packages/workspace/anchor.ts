/**
 * Holds a folder by its descriptor, so that no program can replace it, or a folder above, by a link during the work.
 */
import { constants } from 'node:fs';
import { type FileHandle, mkdir, open, readdir, readlink, realpath, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { ToolFailure } from '../../machine/failure.ts';
import { isSystemError } from '../../machine/system-error.ts';

/** A folder held open. Paths from `entry` lead into this very folder, even when its name then leads to another one. */
export interface Anchor extends AsyncDisposable {
  readonly entry: (name: string) => string;
  /** Makes renames in the folder survive a loss of power. */
  readonly sync: () => Promise<void>;
}

/**
 * Opens a folder by a path in which all links are resolved. A link in it was put there since, and fails with
 * `PATH_CHANGED`. With `create`, missing folders are made, each inside the one held before it.
 */
export async function anchorFolder(
  path: string,
  { create = false }: { create?: boolean } = {},
): Promise<Anchor> {
  try {
    return await holdFolder(path);
  } catch (error) {
    if (!create || !isSystemError(error, 'ENOENT')) throw error;
  }
  await using parent = await anchorFolder(dirname(path), { create });
  await makeFolder(parent.entry(basename(path)));
  return await holdFolder(path);
}

async function makeFolder(path: string): Promise<void> {
  try {
    await mkdir(path);
  } catch (error) {
    // Another call made it in the meantime. Opening it shows what it is.
    if (!isSystemError(error, 'EEXIST')) throw error;
    return;
  }
  if (!isRoot()) return;
  await using folder = await openFolder(path);
  const held = `/proc/self/fd/${folder.fd}`;
  // Checks that the folder is empty: replacing it by another empty folder gains an attacker nothing.
  if ((await readdir(held)).length === 0) await giveToOwnerOf(`${held}/..`, folder);
}

/**
 * Gives a file or folder that a bridge made as root to the owner of the folder around it. Commands run as that owner,
 * and could not change it otherwise.
 */
export async function giveToOwnerOf(folder: string, made: FileHandle): Promise<void> {
  if (!isRoot()) return;
  const { uid, gid } = await stat(folder);
  await made.chown(uid, gid);
}

function isRoot(): boolean {
  return process.getuid?.() === 0;
}

async function holdFolder(path: string): Promise<Anchor> {
  const handle = await openFolder(path);
  try {
    const held = `/proc/self/fd/${handle.fd}`;
    const isLinux = process.platform === 'linux';
    // Other systems have no path into a descriptor. Checking the name again leaves a window of microseconds.
    const real = isLinux ? await readlink(held) : await realpath(path);
    if (real !== path) throw changed();
    return {
      entry: (name) => join(isLinux ? held : path, name),
      sync: () => handle.sync(),
      [Symbol.asyncDispose]: () => handle.close(),
    };
  } catch (error) {
    await handle.close();
    throw error;
  }
}

async function openFolder(path: string): Promise<FileHandle> {
  try {
    return await open(path, constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW);
  } catch (error) {
    throw isSystemError(error, 'ELOOP', 'ENOTDIR') ? changed(error) : error;
  }
}

function changed(cause?: unknown): ToolFailure {
  return new ToolFailure(
    'PATH_CHANGED',
    'A folder on the way to the file was replaced while it was opened: look at the path again, then repeat the call.',
    { cause },
  );
}
