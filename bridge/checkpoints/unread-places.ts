/**
 * Knows what lies where no look reads contents: in caches, in folders of packages, and beyond the files that are
 * watched. It has names, sizes and times alone. From these it says whether a new file comes from there (`originOf`), and
 * what has gone from there, so that a new content may be a copy of it (`gone`; see foreign.ts).
 */
import type { Stats } from 'node:fs';
import type { BytePath } from '../../machine/byte-path.ts';
import type { Turns } from '../../machine/compute/turns.ts';
import { statsOf } from './held.ts';
import type { GoneFile } from './history.ts';
import { CHECKPOINT_LIMITS } from './limits.ts';
import { isKeepable, type WatchedListing } from './listing.ts';

/** Inode and birth time are those of one file; time of change and size, of one content of it. */
type Version = Pick<Stats, 'ino' | 'birthtimeMs' | 'mtimeMs' | 'size'>;

/** A file or a folder as a look found it there. */
interface UnreadEntry extends Version {
  readonly isFolder: boolean;
  /** Whether it stands directly in a cache, or is one. */
  readonly isTop: boolean;
}

/** What the last look found. */
interface KnownEntry extends UnreadEntry {
  /** The message whose command or tool made it, and nothing has changed it since. */
  readonly maker?: string | undefined;
}

type FileIdentity = Pick<Version, 'ino' | 'birthtimeMs'>;

/** What a look came to and did not read, and what it found elsewhere. Its paths are absolute. */
export interface UnreadLook {
  readonly caches: readonly BytePath[];
  readonly packages: readonly BytePath[];
  /** The folders from the one on in which the watched files became too many. */
  readonly left: readonly BytePath[];
  /** The message whose work has appeared since the look before; default: the person's. */
  readonly maker: string | undefined;
  /** `isAsBefore`: nothing was made, deleted or renamed in the folder since the look before. */
  readonly list: (
    folder: BytePath,
  ) => (WatchedListing & { readonly isAsBefore: boolean }) | undefined;
  readonly isWatched: (path: BytePath) => boolean;
  /** Versions of all watched files. */
  readonly files: () => readonly Version[];
  /** All folders that were listed. */
  readonly folders: () => Iterable<FileIdentity>;
  readonly turns: Turns;
}

/**
 * `in_place`: the file lay there already, where no look came to. `elsewhere`: it lay where no look reads before the
 * message, or nothing is known of it but that it is older. `made`: the message made it.
 */
type UnreadOrigin = 'in_place' | 'elsewhere' | 'made';

/** All paths are absolute. */
export class UnreadPlaces {
  #known: ReadonlyMap<BytePath, KnownEntry> = new Map();
  #byInode = new Map<number, KnownEntry>();
  #gone: GoneFile[] = [];

  /** A look has come to its end. */
  async look(passed: UnreadLook): Promise<void> {
    const found = await this.#walk(passed);
    this.#update(found, passed.maker, whereverIn(passed, found));
  }

  /**
   * Where the new file comes from that stands at the path. `isNewPath`: no file was known there. `isOld`: by its times it
   * is older than the message's command.
   */
  originOf(
    path: BytePath,
    stats: Version,
    asked: {
      readonly isNewPath: boolean;
      readonly isOld: boolean;
      readonly maker: string | undefined;
    },
  ): UnreadOrigin {
    const there = asked.isNewPath ? this.#known.get(path) : undefined;
    if (there && isOne(there, stats) && isSameContent(there, stats)) return 'in_place';
    // Written anew where it lay, in a place that has only now come into view.
    const known = this.#find(stats) ?? (there?.isFolder === false ? there : undefined);
    const isOwn = known ? isMadeBy(known, asked.maker) : !asked.isOld;
    return isOwn ? 'made' : 'elsewhere';
  }

  /** A tool of this message has just written the file. What it had before is gone. */
  made(path: BytePath, stats: Stats, maker: string | undefined): void {
    const known = this.#known.get(path);
    if (known && !isMadeBy(known, maker) && !known.isFolder && known.size > 0)
      this.#gone.push({ ...goneOf(path, known), isReplaced: true });
    const isTop = known?.isTop ?? false;
    const { ino, birthtimeMs, mtimeMs, size } = stats;
    const entry = { ino, birthtimeMs, mtimeMs, size, isFolder: false, isTop, maker };
    this.#know(new Map([...this.#known, [path, entry]]));
  }

  /** What is not there any more, or not as it was, those first that anything may be made from. */
  get gone(): readonly GoneFile[] {
    const first = this.#gone.filter(({ isAny }) => isAny);
    const others = this.#gone.filter(({ isAny }) => !isAny);
    return [...first, ...others];
  }

  forgetGone(): void {
    this.#gone = [];
  }

  /** The nearest first. */
  async #walk({
    caches,
    packages,
    left,
    list,
    isWatched,
    turns,
  }: UnreadLook): Promise<ReadonlyMap<BytePath, UnreadEntry>> {
    const unread = new Map<BytePath, UnreadEntry>();
    const tops = new Set([...caches, ...packages]);
    const note = (path: BytePath, isTop: boolean) => {
      const stats = isWatched(path) ? undefined : statsOf(path);
      if (!stats || !(stats.isDirectory() || isKeepable(stats))) return;
      const { ino, birthtimeMs, mtimeMs, size } = stats;
      const isFolder = stats.isDirectory();
      unread.set(path, { ino, birthtimeMs, mtimeMs, size, isFolder, isTop });
    };
    for (const top of tops) note(top, true);
    const others = [...caches, ...left].map((folder) => ({ folder, isPackage: false }));
    const folders = [...others, ...packages.map((folder) => ({ folder, isPackage: true }))];
    for (const { folder, isPackage } of folders) {
      const listing = list(folder);
      if (listing === undefined) continue;
      const inside = [...listing.folders, ...listing.packages];
      for (const path of [...listing.files, ...inside]) {
        if (unread.size >= CHECKPOINT_LIMITS.maxUnread) return unread;
        // Packages are many, and rarely written in place.
        const known = isPackage && listing.isAsBefore ? this.#known.get(path) : undefined;
        if (known) unread.set(path, known);
        else note(path, tops.has(folder));
        if (turns.isDue) await turns.take();
      }
      for (const path of inside) folders.push({ folder: path, isPackage });
    }
    return unread;
  }

  /** `elsewhere` finds a file or folder that is missing here at another place. */
  #update(
    found: ReadonlyMap<BytePath, UnreadEntry>,
    maker: string | undefined,
    elsewhere: (path: BytePath, entry: UnreadEntry) => Version | undefined,
  ): void {
    const next = new Map<BytePath, KnownEntry>();
    for (const [path, entry] of found) {
      const known = this.#known.get(path) ?? this.#find(entry);
      const isAsBefore = known && isOne(known, entry) && isSameContent(known, entry);
      const by = known && (isAsBefore || known.maker === maker) ? known.maker : undefined;
      next.set(path, { ...entry, maker: known ? by : maker });
    }
    const gone: GoneFile[] = [];
    const missing: GoneFile[] = [];
    for (const [path, known] of this.#known) {
      if (isMadeBy(known, maker)) continue;
      const now = found.get(path) ?? elsewhere(path, known);
      if (now && isOne(now, known) && isSameContent(now, known)) continue;
      const { isFolder, isTop, size } = known;
      if (size === 0) continue;
      const isPersons = known.maker === undefined && now === undefined;
      const one = goneOf(path, known);
      if (isPersons && isTop) gone.push({ ...one, isAny: true });
      else if (isPersons && !isFolder) missing.push(one);
      else if (!isFolder) gone.push(now ? { ...one, isReplaced: true } : one);
    }
    if (missing.length > 0) this.#noteMissing(missing, found);
    this.#gone.push(...gone);
    this.#know(next);
  }

  /** A build that replaces a file makes another of its name, which is not one that only moved. */
  #noteMissing(missing: readonly GoneFile[], found: ReadonlyMap<BytePath, UnreadEntry>): void {
    const made = new Set<string>();
    for (const [path, entry] of found)
      if (!this.#known.has(path) && !this.#find(entry)) made.add(nameOf(path));
    const few = new Set(missing.filter(({ path }) => !made.has(nameOf(path))));
    const isFew = few.size <= CHECKPOINT_LIMITS.maxFewGone;
    for (const one of missing)
      this.#gone.push(isFew && few.has(one) ? { ...one, isAny: true } : one);
  }

  /** The known file that this one is: it may have been moved or written since. */
  #find(stats: Version): KnownEntry | undefined {
    const known = this.#byInode.get(stats.ino);
    return known && (isOne(known, stats) || isSameContent(known, stats)) ? known : undefined;
  }

  #know(known: ReadonlyMap<BytePath, KnownEntry>): void {
    this.#known = known;
    this.#byInode = new Map([...known.values()].map((entry) => [entry.ino, entry]));
  }
}

/** What a look missed, as it stands at another place, or where the look did not come to. */
function whereverIn({ files, folders }: UnreadLook, unread: ReadonlyMap<BytePath, UnreadEntry>) {
  const keyOf = ({ ino, birthtimeMs }: FileIdentity) => `${ino} ${birthtimeMs}`;
  let all: Map<string, Version> | undefined;
  let listed: Set<string> | undefined;
  return (path: BytePath, entry: UnreadEntry): Version | undefined => {
    all ??= new Map([...files(), ...unread.values()].map((one) => [keyOf(one), one] as const));
    listed ??= new Set([...folders()].map(keyOf));
    const isMoved = entry.isFolder && listed.has(keyOf(entry));
    return isMoved ? entry : (all.get(keyOf(entry)) ?? statsOf(path));
  };
}

function isMadeBy(known: KnownEntry, maker: string | undefined): boolean {
  return maker !== undefined && known.maker === maker;
}

function goneOf(path: BytePath, { isFolder, size, mtimeMs, maker: by }: KnownEntry): GoneFile {
  const one = { path, sinceMs: mtimeMs, ...(by !== undefined && { by }) };
  return isFolder ? one : { ...one, size };
}

function nameOf(path: BytePath): string {
  return path.slice(path.lastIndexOf('/') + 1);
}

/** Systems use the number of a deleted file again at once. */
function isOne(one: Version, other: Version): boolean {
  return one.ino === other.ino && one.birthtimeMs === other.birthtimeMs;
}

function isSameContent(one: Version, other: Version): boolean {
  return one.mtimeMs === other.mtimeMs && one.size === other.size;
}
