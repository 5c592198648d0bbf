/** Compares paths relative to a workspace, with `/`, by their names alone, without a look at the disk. */
import * as z from 'zod';
import { REQUEST_LIMITS } from '../limits.ts';

/** A folder or file of a workspace to which calls are limited. `src/` equals `src`; `.` is the whole workspace. */
export const AllowedPath = z
  .string()
  .max(REQUEST_LIMITS.maxPathChars)
  .refine(
    (path) => namesOf(path) !== null,
    'Expected a path inside the workspace and relative to it, such as src/',
  );

/**
 * Whether a path is one of the allowed ones or is below one. Resolves `..` first. An absolute path, or one that leaves
 * the workspace on its way, is never within. Does not follow links: the machine checks the path that a link leads to.
 */
export function isWithin(path: string, allowed: readonly string[]): boolean {
  // Most workspaces are open as a whole, and most paths need no look at their parts.
  if (allowed[0] === '.' && !path.startsWith('/') && !path.includes('..')) return true;
  const names = namesOf(path);
  if (names === null) return false;
  return allowed.some((candidate) =>
    namesOf(candidate)?.every((name, depth) => name === names[depth]),
  );
}

/** The names from the workspace to the path, none for the workspace itself; null for a path out of the workspace. */
function namesOf(path: string): readonly string[] | null {
  if (path.startsWith('/')) return null;
  const names: string[] = [];
  for (const name of path.split('/')) {
    if (name === '' || name === '.') continue;
    if (name !== '..') names.push(name);
    else if (names.pop() === undefined) return null;
  }
  return names;
}
