/** Lists what a folder has, and which folders no look reads into. */
import { readdirSync, type Stats } from 'node:fs';
import { type BytePath, toPathLike } from '../sandbox/byte-path.ts';
import { type FolderStamp, stampOf } from '../sandbox/folder-stamp.ts';
import { inHeld } from './held.ts';
import { CHECKPOINT_LIMITS } from './limits.ts';

/** What a folder has. */
export interface WatchedListing extends FolderStamp {
  readonly files: readonly BytePath[];
  /** Those that are looked into. */
  readonly folders: readonly BytePath[];
  /** Those with packages, which are passed over. */
  readonly packages: readonly BytePath[];
  /** Whether it is passed over itself. */
  readonly isCache: boolean;
}

/** Undefined for a folder that is not at its path. Links are entries, and are never followed. */
export function readListing(folder: BytePath, base: BytePath): WatchedListing | undefined {
  return inHeld(folder, (held, stats) => {
    const stamp = stampOf(stats);
    const all = readdirSync(toPathLike(held), { withFileTypes: true, encoding: 'latin1' });
    const isCache = folder !== base && all.some(({ name }) => MARKS.has(name));
    const entries = isCache ? all.slice(0, CHECKPOINT_LIMITS.maxUnread) : all;
    const pathsOf = (found: typeof entries) => found.map(({ name }) => `${folder}/${name}`);
    const folders = entries.filter((entry) => entry.isDirectory() && !PASSED_OVER.has(entry.name));
    const packages = entries.filter((entry) => entry.isDirectory() && entry.name === PACKAGES);
    const files = entries.filter((entry) => entry.isFile() || entry.isSymbolicLink());
    const found = { files: pathsOf(files), folders: pathsOf(folders), packages: pathsOf(packages) };
    return { ...stamp, ...found, isCache };
  });
}

/** All paths in a folder. Undefined for a folder that no look reads into. */
export function readAll(folder: BytePath): BytePath[] | undefined {
  if (PASSED_OVER.has(folder.slice(folder.lastIndexOf('/') + 1))) return undefined;
  return inHeld(folder, (held) => {
    const names = readdirSync(toPathLike(held), { encoding: 'latin1' });
    return names.some((name) => MARKS.has(name))
      ? undefined
      : names.map((name) => `${folder}/${name}`);
  });
}

const PACKAGES = 'node_modules';
/** What programs can make again, or what is git's. */
const PASSED_OVER: ReadonlySet<string> = new Set(['.git', '.hg', '.svn', '.jj', PACKAGES]);
/** In a folder of a cache (bford.info/cachedir), and of a Python environment. */
const MARKS: ReadonlySet<string> = new Set(['CACHEDIR.TAG', 'pyvenv.cfg']);

/** Whether a look knows such an entry: a file or a link. */
export function isKeepable(stats: Stats): boolean {
  return stats.isFile() || stats.isSymbolicLink();
}
