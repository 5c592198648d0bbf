/** Holds what is closed in a workspace by descriptor, so that no move or flood of names makes a sandbox forget it. */
import { closeSync, constants, fstatSync, openSync, readlinkSync } from 'node:fs';
import { isSystemError } from '../../machine/system-error.ts';
import type { Rights } from './account.ts';
import { type BytePath, isBelow, toBytes } from './byte-path.ts';
import { SANDBOX_LIMITS } from './limits.ts';
import { type ClosedEntry, canBeLookedInto, identityOf } from './scan.ts';

/** In `<fcntl.h>`, not in Node: a descriptor that only stands for a place in the tree, and opens nothing there. */
export const O_PATH = 0o10000000;

/** Of one confinement, for as long as its bridge lives. */
export class KnownEntries implements Disposable {
  readonly #workspace: BytePath;
  readonly #rights: Rights | undefined;
  readonly #held: Held[] = [];
  /** Whether more was found than can be held. */
  #hasOverflowed = false;
  #isFirst = true;

  /** `rights`: see {@link canBeLookedInto}. */
  constructor(workspace: BytePath, rights?: Rights) {
    this.#workspace = workspace;
    this.#rights = rights;
  }

  get hasOverflowed(): boolean {
    return this.#hasOverflowed;
  }

  /**
   * Takes in what a look has found; what came first stays first, so that no command can crowd it out. To be called
   * while no sandboxed process runs: then a name still leads to what was found by it.
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

  /** Whether everything that was found is among these places, or would find no room. */
  covers(found: readonly ClosedEntry[], places: readonly ClosedEntry[]): boolean {
    const known = new Set(places.map(keyOf));
    const isEach = found.every((entry) => entry.kind === 'link' || known.has(keyOf(entry)));
    const isFull = this.#held.length >= SANDBOX_LIMITS.maxMounts;
    this.#hasOverflowed = !isEach && isFull;
    return isEach || isFull;
  }

  /** All that still exists, where it is by now. What was deleted is forgotten. */
  places(): ClosedEntry[] {
    const places: ClosedEntry[] = [];
    for (const held of [...this.#held]) {
      const path = placeOf(held, this.#rights);
      if (path === DELETED) this.#release(held);
      else if (path !== TOO_DEEP && isBelow(this.#workspace, path)) {
        const isWhole = isLocked(held, path, this.#rights);
        places.push({ ...held.entry, path, ...(isWhole && { closure: 'secret' }) });
      }
    }
    return places;
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

  #release(held: Held): void {
    closeSync(held.descriptor);
    this.#held.splice(this.#held.indexOf(held), 1);
  }
}

interface Held {
  readonly descriptor: number;
  /** As it was found; its path may be another by now. */
  readonly entry: ClosedEntry;
}

/** A descriptor for what is at a path, never through a link there. Undefined when nothing is. */
export function openPlace(path: BytePath): number | undefined {
  try {
    return openSync(toBytes(path), O_PATH | constants.O_NOFOLLOW);
  } catch {
    // Gone since it was listed, or out of our reach: then commands, which run with no more rights, do not reach it.
    return undefined;
  }
}

/** Hard links are one file at several places. */
function keyOf({ identity, path }: ClosedEntry): string {
  return `${identity} ${path}`;
}

/** A folder that was closed for its mode counts as deleted once that is mended. */
function placeOf(
  { descriptor, entry }: Held,
  rights: Rights | undefined,
): BytePath | typeof DELETED | typeof TOO_DEEP {
  const stats = fstatSync(descriptor);
  if (stats.nlink === 0) return DELETED;
  const path = readPlace(descriptor);
  if (path === TOO_DEEP) return TOO_DEEP;
  // A file with a second name elsewhere: the one that was held is gone. No entry of ours has a name that ends so.
  if (path.endsWith(' (deleted)')) return DELETED;
  return entry.isUnreadable === true && canBeLookedInto(path, stats, rights) ? DELETED : path;
}

/** A protected folder that commands may not read: nothing in it can be closed by itself. */
function isLocked(
  { descriptor, entry }: Held,
  path: BytePath,
  rights: Rights | undefined,
): boolean {
  return entry.kind === 'folder' && !canBeLookedInto(path, fstatSync(descriptor), rights);
}

const DELETED = Symbol('deleted');
/** So deep that the kernel does not tell; then a folder above it is closed as a whole: see {@link canBeLookedInto}. */
const TOO_DEEP = Symbol('too deep');

function readPlace(descriptor: number): BytePath | typeof TOO_DEEP {
  try {
    return readlinkSync(`/proc/self/fd/${descriptor}`, { encoding: 'latin1' });
  } catch (error) {
    if (isSystemError(error, 'ENAMETOOLONG')) return TOO_DEEP;
    throw error;
  }
}

/** What is in the workspace's own folder comes before what is below, what configures programs before secrets. */
function byImportance(entries: readonly ClosedEntry[], workspace: BytePath): ClosedEntry[] {
  const rank = ({ path, closure }: ClosedEntry) =>
    (path.lastIndexOf('/') === workspace.length ? 0 : 2) + (closure === 'protected' ? 0 : 1);
  return entries.toSorted((a, b) => rank(a) - rank(b));
}
