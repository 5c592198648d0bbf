/** Knows the files of one folder and keeps their contents, so that what a command changes can be taken back. */
import {
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  openSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  type Stats,
} from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { sha256 } from '../../machine/hash.ts';
import { isSystemError } from '../../machine/system-error.ts';
import { COMPUTE_LIMITS } from '../compute/limits.ts';
import { Turns } from '../compute/turns.ts';
import { Lanes } from '../lanes.ts';
import { type BytePath, fromText, toPathLike, toText } from '../sandbox/byte-path.ts';
import { type FolderStamp, isAsRead, stampedDevice, stampOf } from '../sandbox/folder-stamp.ts';
import type { BlobStore } from './blobs.ts';
import { CHECKPOINT_LIMITS } from './limits.ts';

/** A file as a look found it. */
export interface SeenFile {
  readonly mode: number;
  /** Null where the content is not kept. */
  readonly hash: string | null;
}

/** What became of a file between two looks; null for no file. */
export interface SeenChange {
  readonly path: BytePath;
  readonly before: SeenFile | null;
  readonly after: SeenFile | null;
}

interface WatchedFile extends SeenFile {
  readonly stamp: Stamp;
  /** Whether any later change shows in the stamp: the file was at rest when the look found it. */
  readonly isSettled: boolean;
}

type Stamp = Pick<Stats, 'ino' | 'size' | 'mtimeMs' | 'ctimeMs' | 'mode'>;

/** What a folder has. */
interface WatchedListing extends FolderStamp {
  readonly files: readonly BytePath[];
  /** Those that are looked into. */
  readonly folders: readonly BytePath[];
}

/** One look: what it may read, and what it has found. */
interface FolderLook {
  readonly readsRest: boolean;
  left: number;
  /** What file tools changed meanwhile. */
  readonly touched: Set<BytePath>;
  readonly changes: SeenChange[];
}

export interface WatchedFolder {
  readonly root: string;
  readonly contents: BlobStore;
  /** Whether tools may read the file, by its absolute path. The content of any other is not kept. */
  readonly mayKeep: (path: string) => boolean;
  /** Ends the reading in the background. */
  readonly signal: AbortSignal;
}

/**
 * A look compares the times that the system keeps, and reads only what has changed. A folder is held open while it is
 * read, so that no program can lead a look out of the workspace by a link.
 */
export class FolderWatch {
  readonly #folder: WatchedFolder;
  readonly #base: BytePath;
  /** By their absolute paths, as all paths in here. */
  readonly #files = new Map<BytePath, WatchedFile>();
  /** Those whose contents are still to be read. */
  readonly #unread = new Set<BytePath>();
  /** The folders of the look before. */
  #listings = new Map<BytePath, WatchedListing>();
  #look: FolderLook | null = null;
  readonly #lanes = new Lanes();
  #bytes = 0;
  #isFilling = false;
  #isCut = false;

  constructor(folder: WatchedFolder) {
    this.#folder = folder;
    this.#base = fromText(folder.root);
  }

  /** Whether the folder has more files than are watched. */
  get isCut(): boolean {
    return this.#isCut;
  }

  /**
   * What has changed since the look before. Reads at most so many files at once, and the others in the background. With
   * `readsRest`, those count that are still to be read. The first look finds all files new.
   */
  async look(maxRead: number, readsRest = false): Promise<readonly SeenChange[]> {
    return await this.#lanes.run(['look'], async () => {
      this.#look = { readsRest, left: maxRead, touched: new Set(), changes: [] };
      try {
        return await this.#lookAt(this.#look);
      } finally {
        this.#look = null;
        void this.#fill();
      }
    });
  }

  /** A file tool has just changed the file. */
  saw(name: BytePath, after: { readonly hash: string } | null): void {
    const path = `${this.#base}/${name}`;
    this.#look?.touched.add(path);
    this.#forget(path);
    const stats = after === null ? undefined : statsOf(path);
    if (after && stats?.isFile())
      this.#note(path, { ...seen(stats, after.hash), isSettled: false });
  }

  /**
   * Whether the contents of all files at this place, or below it, are kept as they are now. Stores those that changed
   * since the look before, which are few. False for a place with links or with many files. Nothing at the place is
   * nothing to keep.
   */
  keeps(path: BytePath): boolean {
    const places = [path];
    let left = CHECKPOINT_LIMITS.maxReadBefore / 2;
    for (const place of places) {
      const stats = statsOf(place);
      if (stats?.isFile()) {
        if (this.#isKept(place, stats)) continue;
        left -= 1;
        if (left < 0 || this.#read(place, stats).hash === null) return false;
      } else if (stats) {
        const inside = stats.isDirectory() ? readAll(place) : undefined;
        if (inside === undefined) return false;
        places.push(...inside);
        if (places.length > CHECKPOINT_LIMITS.maxReadAfter) return false;
      }
    }
    return true;
  }

  #isKept(path: BytePath, stats: Stats): boolean {
    const known = this.#files.get(path);
    if (known === undefined || known.hash === null || !known.isSettled) return false;
    return isSame(known.stamp, stats) && this.#folder.contents.has(known.hash);
  }

  /** The nearest to the root come first. */
  async #lookAt(look: FolderLook): Promise<readonly SeenChange[]> {
    let device: number | undefined;
    const listings = new Map<BytePath, WatchedListing>();
    const found = new Set<BytePath>();
    const turns = new Turns();
    const folders = [this.#base];
    this.#isCut = false;
    for (const folder of folders) {
      const listing = this.#list(folder);
      if (listing === undefined) continue;
      if (folder === this.#base) device = stampedDevice(folder);
      if (listing.dev === device) listings.set(folder, listing);
      for (const path of listing.folders) folders.push(path);
      for (const path of listing.files) {
        const stats = found.size < CHECKPOINT_LIMITS.maxWatched ? statsOf(path) : undefined;
        if (!stats?.isFile()) continue;
        found.add(path);
        if (this.#compare(path, stats, look) && turns.isDue) await turns.take();
      }
      this.#isCut = found.size >= CHECKPOINT_LIMITS.maxWatched;
      if (this.#isCut) break;
      if (turns.isDue) await turns.take();
    }
    this.#listings = listings;
    for (const [path, known] of this.#isCut ? [] : this.#files) {
      if (found.has(path) || look.touched.has(path)) continue;
      this.#forget(path);
      this.#change(look, path, known, null);
    }
    return look.changes;
  }

  /** As before where its times show no change. Undefined for a folder that is not where its path says. */
  #list(folder: BytePath): WatchedListing | undefined {
    const known = this.#listings.get(folder);
    const stats = known && statsOf(folder);
    return known && stats && isAsRead(known, stats) ? known : readListing(folder, this.#base);
  }

  /** Whether the file is not as before. */
  #compare(path: BytePath, stats: Stats, look: FolderLook): boolean {
    const known = this.#files.get(path);
    const isAsBefore = known?.isSettled && isSame(known.stamp, stats);
    const isToRead = look.left > 0 && (!isAsBefore || (look.readsRest && this.#unread.has(path)));
    if ((isAsBefore && !isToRead) || look.touched.has(path)) return false;
    const next = isToRead ? this.#read(path, stats) : seen(stats, null);
    if (isToRead) this.#unread.delete(path);
    else this.#unread.add(path);
    if (isToRead) look.left--;
    this.#note(path, next);
    if (isChanged(known, next)) this.#change(look, path, known ?? null, next);
    return true;
  }

  #change(
    { changes }: FolderLook,
    path: BytePath,
    before: SeenFile | null,
    after: SeenFile | null,
  ) {
    changes.push({ path: path.slice(this.#base.length + 1), before, after });
  }

  /** Half of the time is left to calls. A file that changes meanwhile is not read: its earlier content is gone. */
  async #fill(): Promise<void> {
    if (this.#isFilling) return;
    this.#isFilling = true;
    const turns = new Turns();
    for (const path of this.#unread) {
      if (this.#folder.signal.aborted) break;
      this.#unread.delete(path);
      const known = this.#files.get(path);
      if (known?.isSettled && this.#bytes < CHECKPOINT_LIMITS.maxWatchedBytes) {
        const next = this.#read(path, known.stamp);
        if (next.isSettled && isSame(next.stamp, known.stamp)) this.#note(path, next);
      }
      if (!turns.isDue) continue;
      await sleep(COMPUTE_LIMITS.turnMs, undefined, { ref: false });
      await turns.take();
    }
    this.#isFilling = false;
  }

  /** With the content as it is now, which is stored. Without it where the file may not be read, or is too large. */
  #read(path: BytePath, stats: Stamp): WatchedFile {
    const isKept =
      stats.size <= CHECKPOINT_LIMITS.maxFileBytes && this.#folder.mayKeep(toText(path));
    const file = isKept ? readHeld(path) : null;
    if (file === null) return seen(stats, null);
    const hash = sha256(file.bytes);
    const { contents } = this.#folder;
    const isStored = contents.has(hash) || contents.put(hash, file.bytes);
    return seen(file.stats, isStored ? hash : null);
  }

  #note(path: BytePath, file: WatchedFile): void {
    this.#forget(path);
    this.#files.set(path, file);
    if (file.hash !== null) this.#bytes += file.stamp.size;
  }

  #forget(path: BytePath): void {
    const known = this.#files.get(path);
    if (known?.hash != null) this.#bytes -= known.stamp.size;
    this.#files.delete(path);
  }
}

function isChanged(before: WatchedFile | undefined, after: WatchedFile): boolean {
  if (before === undefined || before.mode !== after.mode) return true;
  const areKnown = before.hash !== null && after.hash !== null;
  return areKnown ? before.hash !== after.hash : !isSame(before.stamp, after.stamp);
}

function seen({ ino, size, mtimeMs, ctimeMs, mode }: Stamp, hash: string | null): WatchedFile {
  const stamp = { ino, size, mtimeMs, ctimeMs, mode };
  const isSettled = Date.now() - Math.max(ctimeMs, mtimeMs) > CHECKPOINT_LIMITS.settledMs;
  return { stamp, mode: mode & PERMISSIONS, hash, isSettled };
}

function isSame(one: Stamp, other: Stamp): boolean {
  return (
    one.ctimeMs === other.ctimeMs &&
    one.mtimeMs === other.mtimeMs &&
    one.size === other.size &&
    one.ino === other.ino &&
    one.mode === other.mode
  );
}

const PERMISSIONS = 0o777;

/** Undefined for a folder that is not at its path. Links are passed over. */
function readListing(folder: BytePath, base: BytePath): WatchedListing | undefined {
  return inHeld(folder, (held, stats) => {
    const stamp = stampOf(stats);
    const entries = readdirSync(toPathLike(held), { withFileTypes: true, encoding: 'latin1' });
    if (folder !== base && entries.some(({ name }) => MARKS.has(name)))
      return { ...stamp, files: [], folders: [] };
    const pathsOf = (found: typeof entries) => found.map(({ name }) => `${folder}/${name}`);
    const folders = entries.filter((entry) => entry.isDirectory() && !PASSED_OVER.has(entry.name));
    const files = entries.filter((entry) => entry.isFile());
    return { ...stamp, files: pathsOf(files), folders: pathsOf(folders) };
  });
}

/** Undefined for what commands' changes are not looked for in. */
function readAll(folder: BytePath): BytePath[] | undefined {
  if (PASSED_OVER.has(folder.slice(folder.lastIndexOf('/') + 1))) return undefined;
  return inHeld(folder, (held) => {
    const names = readdirSync(toPathLike(held), { encoding: 'latin1' });
    return names.some((name) => MARKS.has(name))
      ? undefined
      : names.map((name) => `${folder}/${name}`);
  });
}

/** By the path, which takes half of the time: names and contents come only from what is held. */
function statsOf(path: BytePath): Stats | undefined {
  try {
    return lstatSync(toPathLike(path), IF_ANY);
  } catch (error) {
    if (isSystemError(error, ...GONE)) return undefined;
    throw error;
  }
}

const IF_ANY = { throwIfNoEntry: false } as const;

/** What programs can make again, or what is git's. */
const PASSED_OVER: ReadonlySet<string> = new Set(['.git', '.hg', '.svn', '.jj', 'node_modules']);
/** In a folder of a cache (bford.info/cachedir), and of a Python environment. */
const MARKS: ReadonlySet<string> = new Set(['CACHEDIR.TAG', 'pyvenv.cfg']);

/** Works in the folder if it is still where its path says. What fails counts as not there. */
function inHeld<Found>(
  path: BytePath,
  work: (held: string, stats: Stats) => Found,
): Found | undefined {
  const { O_RDONLY, O_DIRECTORY, O_NOFOLLOW } = constants;
  try {
    const folder = openSync(toPathLike(path), O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
    try {
      if (!isAt(folder, path)) return undefined;
      return work(IS_LINUX ? `/proc/self/fd/${folder}` : path, fstatSync(folder));
    } finally {
      closeSync(folder);
    }
  } catch (error) {
    if (isSystemError(error, ...GONE)) return undefined;
    throw error;
  }
}

/** Null for anything but a regular file at this place. */
function readHeld(path: BytePath): { readonly stats: Stats; readonly bytes: Buffer } | null {
  const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = constants;
  try {
    const file = openSync(toPathLike(path), O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
    try {
      const stats = fstatSync(file);
      const isFitting = stats.isFile() && stats.size <= CHECKPOINT_LIMITS.maxFileBytes;
      if (!isFitting || !isAt(file, path)) return null;
      const bytes = readFileSync(file);
      return isSame(fstatSync(file), stats) ? { stats, bytes } : null;
    } finally {
      closeSync(file);
    }
  } catch (error) {
    if (isSystemError(error, ...GONE)) return null;
    throw error;
  }
}

/** Whether no link stands in the path. Other systems than Linux can only look the name up again. */
function isAt(descriptor: number, path: BytePath): boolean {
  const real = IS_LINUX
    ? readlinkSync(`/proc/self/fd/${descriptor}`, { encoding: 'latin1' })
    : realpathSync(toPathLike(path), { encoding: 'latin1' });
  return real === path;
}

const IS_LINUX = process.platform === 'linux';
const GONE = ['ENOENT', 'ENOTDIR', 'ELOOP', 'EACCES', 'EPERM', 'ENXIO', 'EIO', 'ESTALE', 'EMFILE'];
