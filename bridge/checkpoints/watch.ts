/** Knows the files of one folder and keeps their contents, so that what a command changes can be taken back. */
import { constants, type Stats } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { type BytePath, fromText, toText } from '../../machine/byte-path.ts';
import { COMPUTE_LIMITS } from '../../machine/compute/limits.ts';
import { Turns } from '../../machine/compute/turns.ts';
import { sha256 } from '../../machine/hash.ts';
import { Lanes } from '../../machine/lanes.ts';
import {
  isSameStamp,
  isSettled,
  type Stamp,
  stampOf,
  TREE_LIMITS,
  Tree,
  type TreeFolder,
} from '../../packages/workspace/index.ts';
import type { BlobStore } from './blobs.ts';
import { ifThere, readHeld, readLink, statsOf } from './held.ts';
import { type GoneFile, linkTo } from './history.ts';
import { CHECKPOINT_LIMITS } from './limits.ts';
import { isKeepable, listingOf, readAll, type WatchedListing } from './listing.ts';
import { UnreadPlaces } from './unread-places.ts';

/** A file, or a link, as a look found it. */
export interface SeenFile {
  readonly mode: number;
  /** Null where the content is not kept. A link has that of {@link linkTo}. */
  readonly hash: string | null;
}

/** What became of a file or a link between two looks; null for neither. */
export interface SeenChange {
  readonly path: BytePath;
  readonly before: SeenFile | null;
  readonly after: SeenFile | null;
  /** The new file is older than the command, and comes from where no look sees it: it may have no other place. */
  readonly isForeign?: true;
}

interface WatchedFile extends SeenFile {
  readonly stamp: Stamp;
  /** Whether any later change shows in the stamp: the file was at rest when the look found it. */
  readonly isSettled: boolean;
}

/** One look: what it may read, and what it has found. */
interface FolderLook {
  readonly readsRest: boolean;
  /** The message whose command has run since the look before. */
  readonly maker: string | undefined;
  left: number;
  /** What file tools changed meanwhile. */
  readonly touched: Set<BytePath>;
  readonly changes: WatchedChange[];
  /** The inodes that files had which are gone or written anew, also those that have the same content again. */
  readonly earlier: Set<number>;
}

interface WatchedChange extends SeenChange {
  readonly before: WatchedFile | null;
  readonly after: WatchedFile | null;
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
  /** Those that the next look reads, however many others have changed. */
  readonly #first = new Set<BytePath>();
  readonly #tree: Tree;
  /** What a look watches of each folder, as long as the folder is as it was read. */
  readonly #listings = new WeakMap<TreeFolder, WatchedListing>();
  /** The folders of the look before. */
  #before: ReadonlySet<TreeFolder> = new Set();
  readonly #unreadPlaces = new UnreadPlaces();
  #look: FolderLook | null = null;
  readonly #lanes = new Lanes();
  #bytes = 0;
  #isFilling = false;
  /** When the look before began. */
  #lookedMs = 0;
  #isCut = false;

  constructor(folder: WatchedFolder) {
    this.#folder = folder;
    this.#base = fromText(folder.root);
    this.#tree = Tree.of(this.#base);
  }

  /** Whether the folder has more files than are watched. */
  get isCut(): boolean {
    return this.#isCut;
  }

  /**
   * What has changed since the look before. Reads at most so many files at once, and the others in the background. With
   * `readsRest`, those count that are still to be read. The first look finds all files new. `maker` is the message
   * whose command has run since; default: none.
   */
  async look(
    maxRead: number,
    { readsRest = false, maker }: { readsRest?: boolean; maker?: string | undefined } = {},
  ): Promise<readonly SeenChange[]> {
    return await this.#lanes.run(['look'], async () => {
      const found = { touched: new Set<BytePath>(), changes: [], earlier: new Set<number>() };
      this.#look = { readsRest, maker, left: maxRead, ...found };
      const startMs = Date.now();
      try {
        return await this.#lookAt(this.#look);
      } finally {
        this.#lookedMs = startMs;
        this.#look = null;
        void this.#fill();
      }
    });
  }

  /** What went since it was taken the last time, of what no look reads. */
  get gone(): readonly GoneFile[] {
    const named = (gone: GoneFile) => ({ ...gone, path: gone.path.slice(this.#base.length + 1) });
    return this.#unreadPlaces.gone.map(named);
  }

  takeGone(): readonly GoneFile[] {
    const { gone } = this;
    this.#unreadPlaces.forgetGone();
    return gone;
  }

  /** A file tool of the message `maker` has just changed the file. */
  saw(name: BytePath, after: { readonly hash: string } | null, maker?: string): void {
    const path = `${this.#base}/${name}`;
    this.#look?.touched.add(path);
    this.#forget(path);
    const stats = after === null ? undefined : statsOf(path);
    if (stats && this.#isPassedOver(path)) this.#unreadPlaces.made(path, stats, maker);
    if (after && stats && isKeepable(stats))
      this.#note(path, { ...seen(stats, after.hash), isSettled: false });
  }

  /** For each of these contents a path that has it, as the last look knows it, and is none of the others. */
  pathsOf(
    hashes: ReadonlySet<string>,
    others: ReadonlySet<BytePath>,
  ): ReadonlyMap<string, BytePath> {
    const found = new Map<string, BytePath>();
    if (hashes.size === 0) return found;
    for (const [path, { hash }] of this.#files) {
      if (hash === null || !hashes.has(hash) || found.has(hash)) continue;
      const name = path.slice(this.#base.length + 1);
      if (!others.has(name)) found.set(hash, name);
    }
    return found;
  }

  /**
   * The contents of all files at this place, or below it, which are kept as they are now. Stores those that changed
   * since the look before, which are few; the next look reads them first. Undefined for a place with links, with many
   * files or with one that no look would miss. Nothing at the place is nothing to keep.
   */
  contentsAt(path: BytePath): readonly string[] | undefined {
    if (this.#isPassedOver(path)) return undefined;
    const places = [path];
    const hashes: string[] = [];
    let left = CHECKPOINT_LIMITS.maxReadBefore / 2;
    for (const place of places) {
      const stats = statsOf(place);
      if (stats?.isFile()) {
        const kept = this.#keptAt(place, stats);
        if (this.#isCut && !this.#files.has(place)) return undefined;
        if (kept === undefined) {
          this.#first.add(place);
          left -= 1;
        }
        const hash = kept ?? (left < 0 ? null : this.#read(place, stats).hash);
        if (hash === null) return undefined;
        hashes.push(hash);
      } else if (stats || place !== path) {
        // A listed entry that cannot be looked at, because its path is too long, may still be deleted.
        const inside = stats?.isDirectory() ? readAll(this.#tree, place) : undefined;
        if (inside === undefined) return undefined;
        places.push(...inside);
        if (places.length > CHECKPOINT_LIMITS.maxReadAfter) return undefined;
      }
    }
    return hashes;
  }

  /** Whether a folder above the place is one that no look reads. */
  #isPassedOver(path: BytePath): boolean {
    const names = path
      .slice(this.#base.length + 1)
      .split('/')
      .slice(0, -1);
    return names.some((_, at) => {
      const folder = `${this.#base}/${names.slice(0, at + 1).join('/')}`;
      return statsOf(folder)?.isDirectory() === true && readAll(this.#tree, folder) === undefined;
    });
  }

  #keptAt(path: BytePath, stats: Stats): string | undefined {
    const known = this.#files.get(path);
    if (known === undefined || known.hash === null || !known.isSettled) return undefined;
    const isStored = isSameStamp(known.stamp, stats) && this.#folder.contents.has(known.hash);
    return isStored ? known.hash : undefined;
  }

  /** The nearest to the root come first. */
  async #lookAt(look: FolderLook): Promise<readonly SeenChange[]> {
    const listed = new Set<TreeFolder>();
    const found = new Set<BytePath>();
    const caches: BytePath[] = [];
    const packages: BytePath[] = [];
    const turns = new Turns();
    const folders = [this.#base];
    this.#isCut = false;
    let left: readonly BytePath[] = [];
    for (const [at, folder] of folders.entries()) {
      const listing = this.#list(folder, listed);
      if (listing === undefined) continue;
      if (listing.isCache) {
        caches.push(folder);
        continue;
      }
      packages.push(...listing.packages);
      for (const path of listing.folders) folders.push(path);
      for (const path of listing.files) {
        const stats = found.size < CHECKPOINT_LIMITS.maxWatched ? statsOf(path) : undefined;
        if (!stats || !isKeepable(stats)) continue;
        found.add(path);
        if (this.#compare(path, stats, look) && turns.isDue) await turns.take();
      }
      this.#isCut = found.size >= CHECKPOINT_LIMITS.maxWatched;
      if (this.#isCut) {
        left = folders.slice(at);
        break;
      }
      if (turns.isDue) await turns.take();
    }
    this.#first.clear();
    for (const [path, known] of this.#files) {
      if (found.has(path) || look.touched.has(path)) continue;
      // One that this look did not come to is gone only if it is not there.
      if (this.#isCut && statsOf(path) !== undefined) continue;
      this.#forget(path);
      this.#change(look, path, known, null);
    }
    const changes = this.#withMoved(this.#withForeign(look));
    await this.#unreadPlaces.look({
      caches,
      packages,
      left,
      maker: look.maker,
      list: (folder) => this.#list(folder, listed),
      isWatched: (path) => found.has(path),
      files: () => [...this.#files.values()].map(({ stamp }) => stamp),
      folders: () => listed,
      turns,
    });
    this.#before = listed;
    return changes;
  }

  /**
   * A file that only moved has the content that it had: that is known where it was not read before, and not kept where
   * it was closed before.
   */
  #withMoved(changes: readonly WatchedChange[]): readonly SeenChange[] {
    const unread = changes.filter(({ before }) => before?.hash === null);
    if (unread.length === 0) return changes;
    const afters = new Map<number, WatchedFile>();
    for (const { after } of changes) if (after) afters.set(after.stamp.ino, after);
    /** The hash that both have, by what was there and what is. */
    const hashes = new Map<WatchedFile, string | null>();
    for (const { path, before } of unread) {
      const after = before && afters.get(before.stamp.ino);
      if (!before || !after || !isUnchanged(before.stamp, after.stamp)) continue;
      const mayKeep = this.#folder.mayKeep(`${this.#folder.root}/${toText(path)}`);
      for (const file of [before, after]) hashes.set(file, mayKeep ? after.hash : null);
    }
    const known = (file: WatchedFile | null) => {
      const hash = file && hashes.get(file);
      return file && hash !== undefined ? { ...file, hash } : file;
    };
    return changes.map((change) => {
      return { ...change, before: known(change.before), after: known(change.after) };
    });
  }

  /**
   * Marks new files that lay at a place that no look reads before the command, and leaves out those that have only come
   * into view. A file that the message itself made there is its own. On a local disk the birth time decides, because our
   * clock sets it. On any other disk only a file without a later write is recognised.
   */
  #withForeign({ changes, maker, earlier }: FolderLook): readonly WatchedChange[] {
    const oldMs = this.#lookedMs - TREE_LIMITS.contentSettledMs;
    const isOld = ({ birthtimeMs, mtimeMs, ctimeMs }: Stamp) =>
      this.#tree.isLocal && birthtimeMs > 0
        ? birthtimeMs < oldMs
        : Math.max(birthtimeMs, mtimeMs) < oldMs && ctimeMs >= oldMs;
    const isCandidate = ({ before, after }: WatchedChange) =>
      after !== null && before?.stamp.ino !== after.stamp.ino;
    if (!changes.some(isCandidate)) return changes;
    const changed = new Set(changes.map(({ path }) => `${this.#base}/${path}`));
    const watched = new Set(earlier);
    for (const [path, { stamp }] of this.#files) if (!changed.has(path)) watched.add(stamp.ino);
    return changes.flatMap((change): WatchedChange[] => {
      const { before, after } = change;
      if (after === null || !isCandidate(change)) return [change];
      const { stamp } = after;
      const path = `${this.#base}/${change.path}`;
      const asked = { isNewPath: before === null, isOld: isOld(stamp), maker };
      const origin = this.#unreadPlaces.originOf(path, stamp, asked);
      if (origin === 'in_place') return [];
      const isForeign = origin === 'elsewhere' && !watched.has(stamp.ino);
      return [isForeign ? { ...change, isForeign } : change];
    });
  }

  /** Undefined for a folder that is not where its path says. */
  #list(
    folder: BytePath,
    listed: Set<TreeFolder>,
  ): (WatchedListing & { readonly isAsBefore: boolean }) | undefined {
    const read = ifThere(() => this.#tree.read(folder));
    if (read === undefined) return undefined;
    listed.add(read);
    const listing = this.#listings.get(read) ?? listingOf(read, folder, this.#base);
    this.#listings.set(read, listing);
    return { ...listing, isAsBefore: this.#before.has(read) };
  }

  /** Whether the file is not as before. */
  #compare(path: BytePath, stats: Stats, look: FolderLook): boolean {
    const known = this.#files.get(path);
    const isAsBefore = known?.isSettled && isSameStamp(known.stamp, stats);
    const isDue = look.left > 0 || this.#first.has(path);
    const isToRead = isDue && (!isAsBefore || (look.readsRest && this.#unread.has(path)));
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
    before: WatchedFile | null,
    after: WatchedFile | null,
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
        if (next.isSettled && isSameStamp(next.stamp, known.stamp)) this.#note(path, next);
      }
      if (!turns.isDue) continue;
      await sleep(COMPUTE_LIMITS.turnMs, undefined, { ref: false });
      await turns.take();
    }
    this.#isFilling = false;
  }

  /** With the content as it is now, which is stored. Without it where the file may not be read, or is too large. */
  #read(path: BytePath, stats: Stamp): WatchedFile {
    if (isLink(stats)) {
      const target = this.#folder.mayKeep(toText(path)) ? readLink(path) : undefined;
      return seen(stats, target === undefined ? null : linkTo(target).hash);
    }
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
    if (known === undefined) return;
    if (known.hash !== null) this.#bytes -= known.stamp.size;
    this.#look?.earlier.add(known.stamp.ino);
    this.#files.delete(path);
  }
}

function isChanged(before: WatchedFile | undefined, after: WatchedFile): boolean {
  if (before === undefined || before.mode !== after.mode) return true;
  const areKnown = before.hash !== null && after.hash !== null;
  return areKnown ? before.hash !== after.hash : !isSameStamp(before.stamp, after.stamp);
}

function seen(stats: Stamp, hash: string | null): WatchedFile {
  const stamp = stampOf(stats);
  const { mode } = stamp;
  // Systems differ in the mode of a link, which means nothing.
  return {
    stamp,
    mode: isLink(stamp) ? PERMISSIONS : mode & PERMISSIONS,
    hash,
    isSettled: isSettled(stamp, Date.now(), TREE_LIMITS.contentSettledMs),
  };
}

/** Whether a file, of whatever name, has the content that it had. */
function isUnchanged(one: Stamp, other: Stamp): boolean {
  return one.ino === other.ino && one.mtimeMs === other.mtimeMs && one.size === other.size;
}

const PERMISSIONS = 0o777;

function isLink({ mode }: Stamp): boolean {
  return (mode & constants.S_IFMT) === constants.S_IFLNK;
}
