/** Holds a folder by its descriptor, so that nobody can swap it, or one above it, for a link while we work in it. */
import { constants } from 'node:fs';
import { type FileHandle, mkdir, open, readlink, realpath } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { isSystemError, ToolFailure } from './failure.ts';

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
  await mkdir(parent.entry(basename(path))).catch((error: unknown) => {
    // Made by another call in the meantime: what it is, opening it will tell.
    if (!isSystemError(error, 'EEXIST')) throw error;
  });
  return await holdFolder(path);
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
