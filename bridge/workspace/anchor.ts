/** Holds a folder by its descriptor, so that nobody can swap it, or one above it, for a link while we work in it. */
import { constants } from 'node:fs';
import { type FileHandle, mkdir, open, readdir, readlink, realpath, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { isSystemError } from '../../machine/system-error.ts';
import { ToolFailure } from '../failure.ts';

/** A folder held open. Paths from `entry` lead into this very folder, whatever its name leads to by then. */
export interface Anchor extends AsyncDisposable {
  readonly entry: (name: string) => string;
  /** Makes what was renamed in the folder survive a loss of power. */
  readonly sync: () => Promise<void>;
}

/**
 * Opens a folder by a path in which every link is resolved already, so a link found now was put there since: refused
 * with `PATH_CHANGED`. With `create`, missing folders are made, each inside the one held before it.
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
    // Made by another call in the meantime: what it is, opening it will tell.
    if (!isSystemError(error, 'EEXIST')) throw error;
    return;
  }
  if (!isRoot()) return;
  await using folder = await openFolder(path);
  const held = `/proc/self/fd/${folder.fd}`;
  // An empty one is all that somebody could put in its place and gain: nothing.
  if ((await readdir(held)).length === 0) await giveToOwnerOf(`${held}/..`, folder);
}

/**
 * Gives what a bridge that runs as root has made to the owner of the folder it is in, who else could not change it:
 * commands run as that owner.
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
    // Elsewhere there is no way into a descriptor: the name is checked again, which leaves a window of microseconds.
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
