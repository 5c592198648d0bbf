/** Reads every form of list in which companions tell their folders, and compares folders with the workspace. */
import { realpath } from 'node:fs/promises';
import { basename, dirname, join, posix, win32 } from 'node:path';
import { fileURLToPath } from 'node:url';
import * as z from 'zod';
import { parseJson } from '../../../shared/text/json.ts';
import { DISCOVERY_LIMITS } from './limits.ts';

/**
 * The absolute paths of a list: a list by the system's delimiter, a JSON array, paths or `file:` URLs. Drops empty and
 * relative entries (Gemini CLI takes both for the current folder), URLs of other machines, and what is too long.
 */
export function listRoots(told: string | readonly string[], platform: NodeJS.Platform): string[] {
  const entries = typeof told === 'string' ? (jsonArray(told) ?? split(told, platform)) : told;
  const paths = entries.slice(0, DISCOVERY_LIMITS.maxRoots).map((entry) => pathOf(entry, platform));
  return [...new Set(paths.filter((path) => path !== undefined))];
}

function jsonArray(text: string): string[] | undefined {
  if (!text.trimStart().startsWith('[')) return undefined;
  try {
    return z.array(z.string()).parse(parseJson(text));
  } catch {
    return undefined; // A relative path that begins with a bracket: it is dropped as such.
  }
}

/** The colon of a URL's scheme separates nothing. */
function split(text: string, platform: NodeJS.Platform): string[] {
  return text.split(platform === 'win32' ? ';' : /:(?!\/\/)/);
}

function pathOf(entry: string, platform: NodeJS.Platform): string | undefined {
  if (entry.length > DISCOVERY_LIMITS.maxPathChars) return undefined;
  if (!/^file:\/\//i.test(entry)) return pathsOf(platform).isAbsolute(entry) ? entry : undefined;
  try {
    return fileURLToPath(entry, { windows: platform === 'win32' });
  } catch {
    return undefined; // It names another machine, or no path.
  }
}

/**
 * The real path of a folder that a companion tells, which may be percent-encoded. Of a folder that does not exist, for
 * example on a disk that only the editor sees, the existing parents are resolved.
 */
export async function realRoot(path: string): Promise<string> {
  for (const form of [path, decoded(path)]) {
    const real = await realpath(form).catch(() => undefined);
    if (real !== undefined) return real;
  }
  const parent = dirname(path);
  return parent === path ? path : join(await realRoot(parent), basename(path));
}

function decoded(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    return path; // A percent sign of its own.
  }
}

/** Whether `folder` is `root` or lies below it; both absolute. macOS and Windows do not tell cases apart. */
export function holds(root: string, folder: string, platform: NodeJS.Platform): boolean {
  const { relative, isAbsolute, sep } = pathsOf(platform);
  const way = relative(comparable(root, platform), comparable(folder, platform));
  return way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way);
}

function comparable(path: string, platform: NodeJS.Platform): string {
  const isFolded = platform === 'darwin' || platform === 'win32';
  return isFolded ? path.normalize('NFC').toLowerCase() : path;
}

function pathsOf(platform: NodeJS.Platform): typeof posix {
  return platform === 'win32' ? win32 : posix;
}
