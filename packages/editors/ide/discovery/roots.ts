/** Reads companions' lists of folders in every form, and compares folders with the workspace. */
import { realpath } from 'node:fs/promises';
import { basename, dirname, isAbsolute, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import * as z from 'zod';
import { parseIfJson } from '../../../../shared/text/json.ts';
import { DISCOVERY_LIMITS } from './limits.ts';

/**
 * The absolute paths of a list: a list by the system's delimiter, a JSON array, paths or `file:` URLs. Drops empty and
 * relative entries (Gemini CLI takes both for the current folder), URLs of other machines, and what is too long.
 */
export function listRoots(list: string | readonly string[]): string[] {
  const entries = typeof list === 'string' ? (jsonArray(list) ?? list.split(DELIMITER)) : list;
  const paths = entries.slice(0, DISCOVERY_LIMITS.maxRoots).map(pathOf);
  return [...new Set(paths.filter((path) => path !== undefined))];
}

/** Undefined for a path that begins with a bracket: it is relative, and dropped as such. */
function jsonArray(text: string): string[] | undefined {
  if (!text.trimStart().startsWith('[')) return undefined;
  return z.array(z.string()).safeParse(parseIfJson(text)).data;
}

/** The colon of a URL's scheme separates nothing. */
const DELIMITER = /:(?!\/\/)/;

function pathOf(entry: string): string | undefined {
  if (entry.length > DISCOVERY_LIMITS.maxPathChars) return undefined;
  if (!/^file:\/\//i.test(entry)) return isAbsolute(entry) ? entry : undefined;
  try {
    return fileURLToPath(entry);
  } catch {
    return undefined; // It names another machine, or no path.
  }
}

/**
 * The real path of a companion's folder, which may be percent-encoded. Of a folder that does not exist, for example on
 * a disk that only the editor sees, the existing parents are resolved.
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

/** Whether `folder` is `root` or lies below it; both absolute. macOS treats upper and lower case alike. */
export function holds(root: string, folder: string, platform: NodeJS.Platform): boolean {
  const way = relative(comparable(root, platform), comparable(folder, platform));
  return way !== '..' && !way.startsWith('../');
}

function comparable(path: string, platform: NodeJS.Platform): string {
  return platform === 'darwin' ? path.normalize('NFC').toLowerCase() : path;
}
