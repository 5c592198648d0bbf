/** Paths relative to a workspace, with `/`, as names alone: which one lies within which, whatever is on the disk. */
import * as z from 'zod';
import { REQUEST_LIMITS } from './limits.ts';

/** A folder or file of a workspace to which calls are limited: `src/` and `src` are the same, `.` is everything. */
export const AllowedPath = z
  .string()
  .max(REQUEST_LIMITS.maxPathChars)
  .refine(
    (path) => namesOf(path) !== null,
    'Expected a path inside the workspace and relative to it, such as src/',
  );

/**
 * Whether a path is one of the allowed ones or lies below one. `..` is taken away first; a path that is absolute, or
 * that leaves the workspace on its way, is never within. Links are not followed: on the machine that is for the path
 * they lead to.
 */
export function isWithin(path: string, allowed: readonly string[]): boolean {
  const names = namesOf(path);
  if (names === null) return false;
  return allowed.some((candidate) =>
    namesOf(candidate)?.every((name, depth) => name === names[depth]),
  );
}

/** The names on the way from the workspace, none for the workspace itself; null for a path that leads out of it. */
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
