/** Says which entries of a folder a look watches, and which folders it does not look into. */
import type { Stats } from 'node:fs';
import type { BytePath } from '../../machine/byte-path.ts';
import type { Tree, TreeFolder } from '../../packages/workspace/index.ts';
import { ifThere } from './held.ts';
import { CHECKPOINT_LIMITS } from './limits.ts';

/** What a look watches of a folder. All paths are absolute. */
export interface WatchedListing {
  readonly files: readonly BytePath[];
  /** Those that are looked into. */
  readonly folders: readonly BytePath[];
  /** Those with packages, which are passed over. */
  readonly packages: readonly BytePath[];
  /** Whether it is passed over itself. */
  readonly isCache: boolean;
}

/** Links are entries, and are never followed. */
export function listingOf(
  { entries: all }: TreeFolder,
  folder: BytePath,
  base: BytePath,
): WatchedListing {
  const isCache = folder !== base && hasMark(all);
  const entries = isCache ? [...all].slice(0, CHECKPOINT_LIMITS.maxUnread) : [...all];
  const files: BytePath[] = [];
  const folders: BytePath[] = [];
  const packages: BytePath[] = [];
  for (const [name, kind] of entries) {
    const path = `${folder}/${name}`;
    if (kind === 'file' || kind === 'link') files.push(path);
    else if (kind === 'folder' && name === PACKAGES) packages.push(path);
    else if (kind === 'folder' && !PASSED_OVER.has(name)) folders.push(path);
  }
  return { files, folders, packages, isCache };
}

/** All paths in a folder. Undefined for a folder that no look reads into. */
export function readAll(tree: Tree, folder: BytePath): BytePath[] | undefined {
  if (PASSED_OVER.has(folder.slice(folder.lastIndexOf('/') + 1))) return undefined;
  const read = ifThere(() => tree.read(folder));
  if (read === undefined || hasMark(read.entries)) return undefined;
  return [...read.entries.keys()].map((name) => `${folder}/${name}`);
}

function hasMark(entries: TreeFolder['entries']): boolean {
  return MARKS.some((name) => entries.has(name));
}

const PACKAGES = 'node_modules';
/** What programs can make again, or what is git's. */
const PASSED_OVER: ReadonlySet<string> = new Set(['.git', '.hg', '.svn', '.jj', PACKAGES]);
/** In a folder of a cache (bford.info/cachedir), and of a Python environment. */
const MARKS = ['CACHEDIR.TAG', 'pyvenv.cfg'];

/** Whether a look knows such an entry: a file or a link. */
export function isKeepable(stats: Stats): boolean {
  return stats.isFile() || stats.isSymbolicLink();
}
