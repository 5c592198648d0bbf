/** Knows what lies where no look reads contents: in caches, and beyond the files that are watched. */
import type { Stats } from 'node:fs';
import type { BytePath } from '../sandbox/byte-path.ts';
import type { GoneFile } from './history.ts';
import { CHECKPOINT_LIMITS } from './limits.ts';

/** Inode and birth time are those of one file; time of change and size, of one content of it. */
export type Version = Pick<Stats, 'ino' | 'birthtimeMs' | 'mtimeMs' | 'size'>;

/** A file or a folder as a look found it there. */
export interface UnreadEntry extends Version {
  readonly isFolder: boolean;
  /** Whether it stands directly in a cache, or is one. */
  readonly isTop: boolean;
}

/** What the last look found. */
export interface KnownEntry extends UnreadEntry {
  /** The message whose command or tool made it, and nothing has changed it since. */
  readonly maker?: string | undefined;
}

/** All paths are as the look has them. */
export class UnreadPlaces {
  #known: ReadonlyMap<BytePath, KnownEntry> = new Map();
  #byInode = new Map<number, KnownEntry>();
  #gone: GoneFile[] = [];

  at(path: BytePath): KnownEntry | undefined {
    return this.#known.get(path);
  }

  /** Whether the last look found just this version at the path. */
  has(path: BytePath, stats: Version): boolean {
    const known = this.#known.get(path);
    return known !== undefined && isOne(known, stats) && isSameContent(known, stats);
  }

  /** The known file that this one is: it may have been moved or written since. */
  find(stats: Version): KnownEntry | undefined {
    const known = this.#byInode.get(stats.ino);
    return known && (isOne(known, stats) || isSameContent(known, stats)) ? known : undefined;
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

  /**
   * What a look has found. `elsewhere` finds a file or folder that is missing here at another place. What appears is the
   * work of `maker`; default: of the person.
   */
  update(
    found: ReadonlyMap<BytePath, UnreadEntry>,
    maker: string | undefined,
    elsewhere: (path: BytePath, entry: UnreadEntry) => Version | undefined,
  ): void {
    const next = new Map<BytePath, KnownEntry>();
    for (const [path, entry] of found) {
      const known = this.#known.get(path) ?? this.find(entry);
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
      if (!this.#known.has(path) && !this.find(entry)) made.add(nameOf(path));
    const few = new Set(missing.filter(({ path }) => !made.has(nameOf(path))));
    const isFew = few.size <= CHECKPOINT_LIMITS.maxFewGone;
    for (const one of missing)
      this.#gone.push(isFew && few.has(one) ? { ...one, isAny: true } : one);
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

  #know(known: ReadonlyMap<BytePath, KnownEntry>): void {
    this.#known = known;
    this.#byInode = new Map([...known.values()].map((entry) => [entry.ino, entry]));
  }
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
