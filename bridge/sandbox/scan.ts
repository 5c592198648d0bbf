/** Finds the protected and secret paths of a workspace. Each later look reads only the folders that changed. */
import { type Dirent, lstatSync, readdirSync, type Stats, statfsSync, statSync } from 'node:fs';
import { setImmediate } from 'node:timers/promises';
import { isSystemError } from '../../machine/system-error.ts';
import type { Rights } from './account.ts';
import { type BytePath, toBytes, toPathLike, toText } from './byte-path.ts';
import { SANDBOX_LIMITS } from './limits.ts';
import { type Closure, closureOf } from './protected.ts';

/** A path that commands may not change, or not even read. */
export interface ClosedEntry {
  readonly path: BytePath;
  readonly closure: Closure;
  readonly kind: 'file' | 'folder' | 'link';
  /** See {@link identityOf}. */
  readonly identity: string;
  /** Set for a folder that is closed only because it is unreadable or too deep: see {@link canBeLookedInto}. */
  readonly isUnreadable?: true;
}

export interface ClosedEntries {
  /** The nearest to the workspace's root first. */
  readonly entries: readonly ClosedEntry[];
  /** Whether time ran out before the look was complete. */
  readonly isCut: boolean;
}

/**
 * Looks at one workspace. It looks into every folder, installed packages too, because a command can move a project into
 * one. It looks up names one after the other, so a running program can mislead a look. A look that must be right needs
 * all programs stopped.
 */
export class WorkspaceScan {
  readonly #root: BytePath;
  readonly #rights: Rights | undefined;
  readonly #cachedDevice: number | undefined;
  /** The listings of the look before, by path. */
  #known = new Map<BytePath, Listing>();

  /** `rights`: see {@link canBeLookedInto}. */
  constructor(root: BytePath, rights?: Rights) {
    this.#root = root;
    this.#rights = rights;
    const { dev } = statSync(toBytes(root));
    this.#cachedDevice = LOCAL_DISKS.has(statfsSync(toBytes(root)).type) ? dev : undefined;
  }

  /** The caller must not start a second look before the first has ended. */
  async look(limitMs: number): Promise<ClosedEntries> {
    const deadline = performance.now() + limitMs;
    const seen = new Map<BytePath, Listing>();
    const entries: ClosedEntry[] = [];
    const folders: Folder[] = [{ path: this.#root, isProtected: false }];
    let sliceEnd = performance.now() + SANDBOX_LIMITS.scanSliceMs;
    for (const folder of folders) {
      this.#lookInto(folder, { folders, entries, seen });
      if (performance.now() < sliceEnd) continue;
      if (performance.now() > deadline) return { entries, isCut: true };
      await setImmediate();
      sliceEnd = performance.now() + SANDBOX_LIMITS.scanSliceMs;
    }
    this.#known = seen;
    return { entries, isCut: false };
  }

  #lookInto(
    { path: folder, isProtected, isClosed }: Folder,
    found: { folders: Folder[]; entries: ClosedEntry[]; seen: Map<BytePath, Listing> },
  ): void {
    const stats = statIfAny(folder);
    if (stats === undefined) return;
    if (folder !== this.#root && !canBeLookedInto(folder, stats, this.#rights)) {
      if (isClosed) return;
      const whole = { closure: 'secret', kind: 'folder', isUnreadable: true } as const;
      found.entries.push({ path: folder, identity: identityOf(stats), ...whole });
      return;
    }
    const known = this.#known.get(folder);
    const isCached = known !== undefined && isStillTrue(known, stats);
    const listing = isCached ? known : read(folder, stats);
    if (stats.dev === this.#cachedDevice) found.seen.set(folder, listing);
    for (const entry of listing.closed) {
      const isSecret = entry.closure === 'secret';
      if (isSecret || !isProtected) found.entries.push(entry);
      const isSearched = !isSecret && entry.kind === 'folder' && !entry.path.endsWith(GIT);
      if (!isSearched) continue;
      found.folders.push({ path: entry.path, isProtected: true, isClosed: !isProtected });
    }
    for (const path of listing.below) found.folders.push({ path, isProtected });
  }
}

interface Folder {
  readonly path: BytePath;
  /** Whether commands cannot write to the folder and everything in it. Secrets in it are closed as well. */
  readonly isProtected: boolean;
  /** Whether the folder is itself a closed entry. */
  readonly isClosed?: boolean;
}

/** Git puts no secrets into its folder, but a branch may have the name of one. */
const GIT = '/.git';

/** File systems whose folder times show every change: ext, XFS, Btrfs, tmpfs, overlay, ZFS, F2FS, bcachefs. */
const LOCAL_DISKS: ReadonlySet<number> = new Set([
  0xef53, 0x58465342, 0x9123683e, 0x01021994, 0x794c7630, 0x2fc12fc1, 0xf2f52010, 0xca451a4e,
]);

/**
 * Changes when another file or folder takes the place. The birth time tells two apart that get the same inode number.
 */
export function identityOf({
  dev,
  ino,
  birthtimeMs,
}: {
  readonly [field in 'dev' | 'ino' | 'birthtimeMs']: number | bigint;
}): string {
  return `${Number(dev)}:${Number(ino)}:${Math.floor(Number(birthtimeMs))}`;
}

/** The content of a folder at the time of reading. `dev`, `ino` and `birthtimeMs` identify the folder. */
interface Listing {
  readonly dev: number;
  readonly ino: number;
  readonly birthtimeMs: number;
  readonly closed: readonly ClosedEntry[];
  /** Paths of the folders in it that are not closed. */
  readonly below: readonly BytePath[];
  readonly changedMs: number;
  readonly readMs: number;
}

/** Whether the listing still holds. No program can set `ctime` without changing the system's clock. */
function isStillTrue(listing: Listing, stats: Stats): boolean {
  const { changedMs, readMs } = listing;
  const isSettled = readMs - changedMs > SANDBOX_LIMITS.settledMs;
  const isUnchanged = changedMs === Math.max(stats.ctimeMs, stats.mtimeMs);
  return isSettled && isUnchanged && isSameFolder(listing, stats);
}

function isSameFolder(listing: Listing, { dev, ino, birthtimeMs }: Stats): boolean {
  return listing.dev === dev && listing.ino === ino && listing.birthtimeMs === birthtimeMs;
}

function read(folder: BytePath, stats: Stats): Listing {
  const readMs = Date.now();
  const entries = readEntries(folder);
  const closed = entries.flatMap((entry) => toClosed(folder, entry));
  const closedPaths = new Set(closed.map(({ path }) => path));
  const folders = entries.filter((entry) => entry.isDirectory());
  const paths = folders.map(({ name }) => join(folder, name));
  const { dev, ino, birthtimeMs, ctimeMs, mtimeMs } = stats;
  return {
    dev,
    ino,
    birthtimeMs,
    closed,
    below: paths.filter((path) => !closedPaths.has(path)),
    changedMs: Math.max(ctimeMs, mtimeMs),
    readMs,
  };
}

function readEntries(folder: BytePath): Dirent[] {
  try {
    return readdirSync(toBytes(folder), { withFileTypes: true, encoding: 'latin1' });
  } catch (error) {
    // The folder has gone since it was listed, or we may not read it. `canBeLookedInto` closes the latter as a whole.
    if (isSystemError(error, 'ENOENT', 'ENOTDIR', 'EACCES', 'EPERM')) return [];
    throw error;
  }
}

function toClosed(folder: BytePath, { name }: Dirent): ClosedEntry[] {
  const closure = closureOf(toText(name));
  if (closure === null) return [];
  const path = join(folder, name);
  const stats = statIfAny(path);
  if (stats === undefined) return [];
  const kind = stats.isSymbolicLink() ? 'link' : stats.isDirectory() ? 'folder' : 'file';
  return [{ path, closure, kind, identity: identityOf(stats) }];
}

const READ_AND_ENTER = { owner: 0o500, group: 0o050, others: 0o005 } as const;

/**
 * False for a folder that its owner may not read, and for one so deep that nothing below it can be mounted on. Such a
 * folder is closed as a whole, because a command can make one and put closed files inside. Where commands run as
 * another user than the bridge, `rights` are that user's: no mount can be made inside a folder that this user cannot
 * enter.
 */
export function canBeLookedInto(
  path: BytePath,
  { mode, uid, gid }: Pick<Stats, 'mode' | 'uid' | 'gid'>,
  rights?: Rights,
): boolean {
  const isOwner = rights === undefined || uid === rights.uid;
  const needed = READ_AND_ENTER[isOwner ? 'owner' : gid === rights.gid ? 'group' : 'others'];
  return (mode & needed) === needed && path.length <= SANDBOX_LIMITS.maxPathBytes;
}

const IF_ANY = { throwIfNoEntry: false } as const;

function statIfAny(path: BytePath): Stats | undefined {
  try {
    return lstatSync(toPathLike(path), IF_ANY);
  } catch (error) {
    // The path has gone since it was listed, or lies behind a folder that we may not enter.
    if (isSystemError(error, 'ENOTDIR', 'EACCES', 'ENAMETOOLONG', 'ELOOP')) return undefined;
    throw error;
  }
}

function join(folder: BytePath, name: string): BytePath {
  return `${folder}/${name}`;
}
