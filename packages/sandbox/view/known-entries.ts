/**
 * Holds a workspace's closed entries by descriptor, so that no move and no flood of names makes a sandbox forget one.
 */
import { closeSync, constants, fstatSync, lstatSync, openSync, readlinkSync } from 'node:fs';
import { dirname } from 'node:path';
import { type BytePath, isBelow, toBytes, toText } from '../../../machine/byte-path.ts';
import { isSystemError } from '../../../machine/system-error.ts';
import {
  type ClosedEntry,
  canBeLookedInto,
  IgnoredPaths,
  type IgnoreFile,
  identityOf,
  type Rights,
  type ScanOptions,
  SECRET_IGNORE_FILES,
} from '../../workspace/index.ts';
import { SANDBOX_LIMITS } from '../limits.ts';

/** `O_PATH` of `<fcntl.h>`, which Node lacks: the descriptor only stands for a place in the tree and opens nothing. */
export const O_PATH = 0o10000000;

/** The entries of one confinement, for as long as its bridge lives. */
export class KnownEntries implements Disposable {
  readonly #workspace: BytePath;
  readonly #rights: Rights | undefined;
  readonly #rules: readonly IgnoredPaths[];
  readonly #held: HeldDescriptor[] = [];
  #reopenings = 0;
  /** Whether a look found more entries than can be held. */
  #hasOverflowed = false;
  #isFirst = true;

  /** `rights` and `ignoring`: see ScanOptions. */
  constructor(workspace: BytePath, { rights, ignoring = [] }: ScanOptions = {}) {
    this.#workspace = workspace;
    this.#rights = rights;
    this.#rules = ignoring.map((folder) => new IgnoredPaths(toText(folder), SECRET_IGNORE_FILES));
  }

  get hasOverflowed(): boolean {
    return this.#hasOverflowed;
  }

  /** How many entries a person has opened again, by a change of the ignore file that closed them. */
  get reopenings(): number {
    return this.#reopenings;
  }

  /**
   * Adds the entries that a look has found. Earlier entries stay, so that no command can crowd them out. The caller
   * calls this while no sandboxed process runs: then a name still leads to the entry that was found under it.
   */
  remember(found: readonly ClosedEntry[]): void {
    const known = new Set(this.places().map(keyOf));
    const { maxFirstMounts, maxMounts } = SANDBOX_LIMITS;
    const room = this.#isFirst ? maxFirstMounts : maxMounts;
    const fresh = found.filter((entry) => entry.kind !== 'link' && !known.has(keyOf(entry)));
    for (const entry of this.#isFirst ? byImportance(fresh, this.#workspace) : fresh) {
      if (this.#held.length < room) this.#hold(entry);
      else this.#hasOverflowed = true;
    }
    this.#isFirst = false;
  }

  /** Whether every found entry is among these places, or there is no room for more. */
  covers(found: readonly ClosedEntry[], places: readonly ClosedEntry[]): boolean {
    const known = new Set(places.map(keyOf));
    const isEach = found.every((entry) => entry.kind === 'link' || known.has(keyOf(entry)));
    const isFull = this.#held.length >= SANDBOX_LIMITS.maxMounts;
    this.#hasOverflowed = !isEach && isFull;
    return isEach || isFull;
  }

  /**
   * All entries that still exist, at their present paths. Forgets deleted entries, and those that a change of their
   * ignore file may have opened: the next look finds them again if they are still ignored.
   */
  places(): KnownPlace[] {
    const places: KnownPlace[] = [];
    for (const held of this.#held.filter((each) => this.#isOpened(each))) {
      this.#release(held);
      this.#reopenings++;
    }
    for (const held of [...this.#held]) {
      const path = placeOf(held, this.#rights);
      if (path === DELETED) this.#release(held);
      else if (path !== TOO_DEEP && isBelow(this.#workspace, path)) {
        const isWhole = isLocked(held, path, this.#rights);
        places.push({
          ...held.entry,
          path,
          foundAt: held.entry.path,
          ...(isWhole && { closure: 'secret' }),
        });
      }
    }
    return places;
  }

  /** The present real paths of entries that tools do not know by their names, wherever a command has moved them. */
  nameless(): BytePath[] {
    return this.places()
      .filter(
        ({ by, isLed, isCrowded, foundAt, path }) =>
          isLed || (by && !(isCrowded && foundAt === path)),
      )
      .map(({ path }) => path);
  }

  /**
   * Whether a person may have opened an entry. The next look asks the rules about its present path, so an entry that was
   * moved away from them stays, unless the rules now open its old path. It stays as well where the rules were moved.
   */
  #isOpened({ descriptor, entry: { by, path, kind, isCrowded } }: HeldDescriptor): boolean {
    if (by === undefined || this.#isAsRead(by)) return false;
    if (by.content.state === 'odd') return true;
    // No command moves what lies in the workspace's own folder, or above.
    const isFixed = !isBelow(this.#workspace, dirname(by.path));
    if (!isFixed && this.#lastPlaceOf(by) !== by.path) return false;
    if (readPlace(descriptor) === path) return true;
    const name = toText(path.slice(this.#workspace.length + 1));
    const isClosed = this.#rules.some((rules) =>
      rules.closing(name, { isFolder: kind === 'folder' }),
    );
    return isFixed && !isCrowded && !isClosed;
  }

  /** Where an ignore file lies or lay when it was deleted: an editor that saves it puts another one there. */
  #lastPlaceOf({ identity }: IgnoreFile): BytePath | undefined {
    const file = this.#held.find(({ entry }) => entry.identity === identity);
    const place = file && readPlace(file.descriptor);
    return typeof place === 'string' ? place.replace(/ \(deleted\)$/, '') : undefined;
  }

  /**
   * Whether an ignore file is as it was. No command can change it, only move it with its folder: its descriptor shows
   * it wherever it is now. No command reaches what lies in a folder that it closes as a whole, or outside the workspace.
   */
  #isAsRead({ identity, path, changedMs, content }: IgnoreFile): boolean {
    const isOutOfReach = content.state === 'odd' || !isBelow(this.#workspace, path);
    if (isOutOfReach) return changeTimeAt(path) === changedMs;
    const file = this.#held.find(({ entry }) => entry.identity === identity);
    if (file === undefined) return false;
    const { nlink, ctimeMs } = fstatSync(file.descriptor);
    return nlink > 0 && Math.floor(ctimeMs) === changedMs;
  }

  [Symbol.dispose](): void {
    for (const held of [...this.#held]) this.#release(held);
  }

  #hold(entry: ClosedEntry): void {
    const descriptor = openPlace(entry.path);
    if (descriptor === undefined) return;
    if (identityOf(fstatSync(descriptor)) === entry.identity) {
      this.#held.push({ descriptor, entry });
    } else closeSync(descriptor);
  }

  #release(held: HeldDescriptor): void {
    closeSync(held.descriptor);
    this.#held.splice(this.#held.indexOf(held), 1);
  }
}

/** An entry at its present path. */
export interface KnownPlace extends ClosedEntry {
  readonly foundAt: BytePath;
}

interface HeldDescriptor {
  readonly descriptor: number;
  /** The entry as it was found. Its path may have changed since. */
  readonly entry: ClosedEntry;
}

/** A descriptor for the file at a path, never through a link there. Undefined when the path does not exist. */
export function openPlace(path: BytePath): number | undefined {
  try {
    return openSync(toBytes(path), O_PATH | constants.O_NOFOLLOW);
  } catch {
    // Gone since it was listed, or out of our reach. Commands have no more rights, so they do not reach it either.
    return undefined;
  }
}

function changeTimeAt(path: BytePath): number | undefined {
  try {
    return Math.floor(lstatSync(toBytes(path)).ctimeMs);
  } catch {
    return undefined; // It has gone.
  }
}

/** Includes the path, because hard links are one file at several places. */
function keyOf({ identity, path }: ClosedEntry): string {
  return `${identity} ${path}`;
}

/** A folder that was closed for its mode counts as deleted once its mode is repaired. */
function placeOf(
  { descriptor, entry }: HeldDescriptor,
  rights: Rights | undefined,
): BytePath | typeof DELETED | typeof TOO_DEEP {
  const stats = fstatSync(descriptor);
  if (stats.nlink === 0) return DELETED;
  const path = readPlace(descriptor);
  if (path === TOO_DEEP) return TOO_DEEP;
  // A file with a second name elsewhere: the name we held has gone. No entry of ours has a name that ends so.
  if (path.endsWith(' (deleted)')) return DELETED;
  return entry.isUnreadable === true && canBeLookedInto(path, stats, rights) ? DELETED : path;
}

/** Whether this is a protected folder that commands may not read: no entry inside can be closed on its own. */
function isLocked(
  { descriptor, entry }: HeldDescriptor,
  path: BytePath,
  rights: Rights | undefined,
): boolean {
  return entry.kind === 'folder' && !canBeLookedInto(path, fstatSync(descriptor), rights);
}

const DELETED = Symbol('deleted');
/**
 * So deep that the kernel does not give the path. Then a folder above is closed as a whole: see {@link
 * canBeLookedInto}.
 */
const TOO_DEEP = Symbol('too deep');

function readPlace(descriptor: number): BytePath | typeof TOO_DEEP {
  try {
    return readlinkSync(`/proc/self/fd/${descriptor}`, { encoding: 'latin1' });
  } catch (error) {
    if (isSystemError(error, 'ENAMETOOLONG')) return TOO_DEEP;
    throw error;
  }
}

/** Entries directly in the workspace come before deeper ones, then protected entries before secrets. */
function byImportance(entries: readonly ClosedEntry[], workspace: BytePath): ClosedEntry[] {
  const rank = ({ path, closure }: ClosedEntry) =>
    (path.lastIndexOf('/') === workspace.length ? 0 : 2) + (closure === 'protected' ? 0 : 1);
  return entries.toSorted((a, b) => rank(a) - rank(b));
}
