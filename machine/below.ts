/** Finds the way of a path below a folder. */
import { realpath } from 'node:fs/promises';
import { dirname, isAbsolute, join, relative, sep } from 'node:path';

/**
 * The way from the folder to the path, through whatever links either is spelled; `.` for the folder itself, undefined
 * for a path outside. Links below the folder stay in it: the workspace decides about their targets. Both are absolute.
 */
export async function wayBelow(folder: string, path: string): Promise<string | undefined> {
  const way = relative(folder, path);
  if (isBelow(way)) return way || '.';
  const root = await realpath(folder).catch(() => undefined);
  if (root === undefined) return undefined; // The folder is on another machine.
  for (const above of foldersOn(path)) {
    const real = await realpath(above).catch(() => undefined);
    if (real === undefined) return undefined;
    const begin = relative(root, real);
    if (isBelow(begin)) return join(begin, relative(above, path));
  }
  return undefined;
}

/** From the top down to the path itself. */
function foldersOn(path: string): string[] {
  return dirname(path) === path ? [path] : [...foldersOn(dirname(path)), path];
}

function isBelow(way: string): boolean {
  return way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way);
}
