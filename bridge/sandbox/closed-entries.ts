/** Finds the protected and secret paths in a workspace, nearest first. */
import type { BigIntStats, Dirent } from 'node:fs';
import { lstat, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { COMMAND_LIMITS } from '../../shared/limits.ts';
import { isSystemError } from './failure.ts';
import { type Closure, closureOf, isPlainName } from './protected.ts';

/** A path that commands may not change, or not even read. */
export interface ClosedEntry {
  readonly path: string;
  readonly closure: Closure;
  readonly kind: 'file' | 'folder' | 'link';
  /** See {@link identityOf}. */
  readonly identity: string;
}

export interface ClosedEntries {
  readonly entries: readonly ClosedEntry[];
  /** Whether the workspace is larger than what was looked at. */
  readonly isCut: boolean;
}

/**
 * Looks through a workspace level by level, up to `maxScanEntries`. Packages that others wrote (`node_modules`) are
 * left out: they hold thousands of folders and no repositories.
 */
export async function findClosedEntries(workspace: string): Promise<ClosedEntries> {
  const entries: ClosedEntry[] = [];
  let seen = 0;
  for (let level = [workspace]; level.length > 0; ) {
    const children = closedFirst((await Promise.all(level.map(readFolder))).flat());
    const looked = children.slice(0, COMMAND_LIMITS.maxScanEntries - seen);
    seen += looked.length;
    entries.push(...(await Promise.all(looked.map(toClosedEntry))).flat());
    if (looked.length < children.length) return { entries, isCut: true };
    level = children.filter(isSearched).map(pathOf);
  }
  return { entries, isCut: false };
}

/** What is protected now and was not there before, or was something else. */
export function newlyProtected(
  before: readonly ClosedEntry[],
  after: readonly ClosedEntry[],
): ClosedEntry[] {
  const known = new Set(before.map(({ path, identity }) => `${identity} ${path}`));
  return after.filter(
    ({ path, identity, closure }) => closure === 'protected' && !known.has(`${identity} ${path}`),
  );
}

async function readFolder(path: string): Promise<Dirent[]> {
  try {
    return await readdir(path, { withFileTypes: true });
  } catch (error) {
    // Gone since it was listed, or not ours to read: then a command of ours cannot use it either.
    if (isSystemError(error, 'ENOENT', 'ENOTDIR', 'EACCES', 'EPERM')) return [];
    throw error;
  }
}

async function toClosedEntry(entry: Dirent): Promise<ClosedEntry[]> {
  const closure = closureOf(entry.name);
  if (closure === null) return [];
  const path = pathOf(entry);
  const stats = await lstat(path, { bigint: true }).catch(() => undefined);
  // Gone since it was listed.
  if (stats === undefined) return [];
  const kind = stats.isSymbolicLink() ? 'link' : stats.isDirectory() ? 'folder' : 'file';
  return [{ path, closure, kind, identity: identityOf(stats) }];
}

/** Differs when another file or folder takes the place. */
export function identityOf({ dev, ino, birthtimeNs }: BigIntStats): string {
  return `${dev}:${ino}:${birthtimeNs}`;
}

/** A command can make any number of names, also such as `.git...`: none of them may stand before `.git`. */
function closedFirst(entries: readonly Dirent[]): Dirent[] {
  const closed = entries.filter(({ name }) => closureOf(name) !== null);
  const plain = closed.filter(({ name }) => isPlainName(name));
  return [...new Set([...plain, ...closed, ...entries])];
}

function isSearched(entry: Dirent): boolean {
  return entry.isDirectory() && entry.name !== 'node_modules' && closureOf(entry.name) === null;
}

function pathOf(entry: Dirent): string {
  return join(entry.parentPath, entry.name);
}
