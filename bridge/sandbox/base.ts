/**
 * The base of a workspace's sandboxes: a mount namespace in which everything is closed that commands may not change or
 * read. It is made while no command can move a name; each command gets the kernel's copy of it, for which no name
 * inside the workspace is looked up again.
 */
import { closeSync, fstatSync, readFileSync } from 'node:fs';
import type { BytePath } from './byte-path.ts';
import { type Holder, type Mount, startHolder } from './holder.ts';
import { openPlace } from './known-entries.ts';
import { type ClosedEntry, identityOf } from './scan.ts';
import { closeEntries, mountable, SEAL } from './view.ts';

export interface BaseParts {
  /** Stands before bubblewrap: see Account. */
  readonly prefix: readonly string[];
  readonly file: string;
  readonly view: readonly BytePath[];
  readonly entries: readonly ClosedEntry[];
}

/** Disposed of, it lets go of the namespace; commands in copies of it run on. */
export class Base implements Disposable {
  readonly #holder: Holder;

  private constructor(holder: Holder) {
    this.#holder = holder;
  }

  /**
   * Makes one, and looks from outside whether each entry is closed, by descriptor: undefined when a program outside of
   * the sandboxes changed one meanwhile. Rejects with what bubblewrap complained of.
   */
  static async make({ prefix, file, view, entries }: BaseParts): Promise<Base | undefined> {
    const closed = mountable(entries);
    const args = ['--unshare-user', '--die-with-parent', ...view, ...closeEntries(closed), ...SEAL];
    const holder = await startHolder(prefix, file, args);
    if (isEachClosed(holder, closed)) return new Base(holder);
    holder[Symbol.dispose]();
    return undefined;
  }

  get namespaces(): Holder['namespaces'] {
    return this.#holder.namespaces;
  }

  /**
   * Whether all of these are still closed in it. A mount follows its folder through any move; it is lost when a program
   * outside puts another file in the place, as editors do.
   */
  closes(entries: readonly ClosedEntry[]): boolean {
    const places = new Set([...this.#holder.mounts().values()].map(({ place }) => place));
    return mountable(entries).every(({ path }) => places.has(path));
  }

  [Symbol.dispose](): void {
    this.#holder[Symbol.dispose]();
  }
}

/** Looks at every entry, in the mounts of a process. */
export function isEachClosed(
  { pid, mounts }: Pick<Holder, 'pid' | 'mounts'>,
  entries: readonly ClosedEntry[],
): boolean {
  const known = mounts();
  return entries.every((entry) => isClosed(entry, `/proc/${pid}/root`, known));
}

/** What is seen in the base at its path: for what is protected the very thing, on a mount of its own that is read-only. */
function isClosed(entry: ClosedEntry, root: string, mounts: ReadonlyMap<number, Mount>): boolean {
  const descriptor = openPlace(`${root}${entry.path}`);
  if (descriptor === undefined) return false;
  try {
    const mount = mounts.get(mountIdOf(descriptor));
    if (mount?.place !== entry.path) return false;
    const seen = fstatSync(descriptor);
    if (entry.closure === 'protected') {
      return mount.isReadOnly && identityOf(seen) === entry.identity;
    }
    return entry.kind === 'folder' ? mount.fileSystem === 'tmpfs' : seen.isCharacterDevice();
  } finally {
    closeSync(descriptor);
  }
}

/** By proc_pid_fdinfo(5). */
function mountIdOf(descriptor: number): number {
  const info = readFileSync(`/proc/self/fdinfo/${descriptor}`, 'latin1');
  return Number(/^mnt_id:\s*(\d+)$/m.exec(info)?.[1]);
}
