/**
 * The base of a workspace's sandboxes: a mount namespace in which everything is closed that commands may not change or
 * read. It is made while no command can move a name. Each command gets the kernel's copy of it, so no name inside the
 * workspace is looked up again.
 */
import { closeSync, fstatSync, readFileSync } from 'node:fs';
import type { BytePath } from '../../../machine/byte-path.ts';
import { type ClosedEntry, identityOf } from '../../workspace/index.ts';
import type { CommandUser } from '../account.ts';
import { openPlace } from '../view/known-entries.ts';
import type { Mask, MasksByPath, OwnFile } from '../view/masks.ts';
import { closeEntries, mountable, SEAL } from '../view/view.ts';
import { ownUser } from './command-arguments.ts';
import { type Entry, type Holder, type Mount, startHolder } from './holder.ts';

/** What must be checked in mounts after they were made: their sources were found by name. */
export interface Checked {
  readonly entries: readonly ClosedEntry[];
  /** Those of the secrets that git tracks. */
  readonly masks: MasksByPath;
  readonly shown: readonly OwnFile[];
}

export interface BaseParts extends Checked {
  readonly account: CommandUser;
  readonly file: string;
  readonly entry?: Entry | undefined;
  readonly view: readonly BytePath[];
}

/** Disposal closes the namespace's descriptors. Commands in copies of the base run on. */
export class Base implements Disposable {
  readonly #holder: Holder;
  readonly #masks: MasksByPath;

  private constructor(holder: Holder, masks: MasksByPath) {
    this.#holder = holder;
    this.#masks = masks;
  }

  /**
   * Makes a base and checks by descriptor, from outside, that it is as it must be. Undefined when a program outside
   * the sandboxes changed an entry meanwhile. Rejects with bubblewrap's error message.
   */
  static async make(parts: BaseParts): Promise<Base | undefined> {
    const { account, file, entry, view, entries, masks, shown } = parts;
    const closed = mountable(entries);
    const mounts = [...view, ...closeEntries(closed, masks), ...SEAL];
    const args = ['--unshare-user', ...ownUser(account), '--die-with-parent', ...mounts];
    const holder = await startHolder(account.prefix, file, args, { entry });
    if (isAsChecked(holder, { entries: closed, masks, shown })) return new Base(holder, masks);
    holder[Symbol.dispose]();
    return undefined;
  }

  get namespaces(): Holder['namespaces'] {
    return this.#holder.namespaces;
  }

  /**
   * Whether all of these entries are still closed in the base, and git sees the tracked ones there as unchanged. A mount
   * follows its folder through any move. It is lost when a program outside replaces the file, as editors do.
   */
  closes(entries: readonly ClosedEntry[], masks: MasksByPath): boolean {
    const isSame = [...masks].every(
      ([path, { source }]) => this.#masks.get(path)?.source === source,
    );
    if (!isSame || masks.size !== this.#masks.size) return false;
    const places = new Set([...this.#holder.mounts().values()].map(({ place }) => place));
    return mountable(entries).every(({ path }) => places.has(path));
  }

  [Symbol.dispose](): void {
    this.#holder[Symbol.dispose]();
  }
}

/** Checks in the mounts of a process that every entry is closed, and that our own files are ours. */
export function isAsChecked(
  { pid, mounts }: Pick<Holder, 'pid' | 'mounts'>,
  { entries, masks, shown }: Checked,
): boolean {
  const known = mounts();
  const root = `/proc/${pid}/root`;
  return (
    entries.every((entry) => isClosed(entry, root, known, masks.get(entry.path))) &&
    shown.every((file) => isShown(file, root))
  );
}

function isShown({ place, identity }: OwnFile, root: string): boolean {
  const descriptor = openPlace(`${root}${place}`);
  if (descriptor === undefined) return false;
  try {
    return identityOf(fstatSync(descriptor)) === identity;
  } finally {
    closeSync(descriptor);
  }
}

/** A protected entry must appear in the base as the same file, on a read-only mount of its own. So must a mask. */
function isClosed(
  entry: ClosedEntry,
  root: string,
  mounts: ReadonlyMap<number, Mount>,
  mask: Mask | undefined,
): boolean {
  const descriptor = openPlace(`${root}${entry.path}`);
  if (descriptor === undefined) return false;
  try {
    const mount = mounts.get(mountIdOf(descriptor));
    if (mount?.place !== entry.path) return false;
    const seen = fstatSync(descriptor);
    const expected = entry.closure === 'protected' ? entry : mask;
    if (expected) return mount.isReadOnly && identityOf(seen) === expected.identity;
    return entry.kind === 'folder' ? mount.fileSystem === 'tmpfs' : seen.isCharacterDevice();
  } finally {
    closeSync(descriptor);
  }
}

/** Reads proc_pid_fdinfo(5). */
function mountIdOf(descriptor: number): number {
  const info = readFileSync(`/proc/self/fdinfo/${descriptor}`, 'latin1');
  return Number(/^mnt_id:\s*(\d+)$/m.exec(info)?.[1]);
}
