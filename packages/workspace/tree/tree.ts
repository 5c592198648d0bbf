/** Knows what the folders below one have. Reads again only those that changed. */
import { readdirSync, type Stats } from 'node:fs';
import { type BytePath, toPathLike } from '../../../machine/byte-path.ts';
import { type EntryKind, kindOf } from '../../../machine/entry-kind.ts';
import { inHeld, statsOf, unlessUnreachable } from './held.ts';
import { TREE_LIMITS } from './limits.ts';
import { isSameStamp, isSettled, type Stamp, stampedDevice, stampOf } from './stamp.ts';

/** A folder as it was read. It stays the same object until an entry is made, deleted, renamed or replaced in it. */
export interface TreeFolder extends Stamp {
  readonly readMs: number;
  /** By their names. */
  readonly entries: ReadonlyMap<BytePath, EntryKind>;
}

/**
 * Every room that looks at a folder shares its tree, at any moment and each with its own rules. So a folder is read once
 * for all of them, and a room that keeps what it made of a {@link TreeFolder} sees by the object whether it still holds.
 */
export class Tree {
  static readonly #trees = new Map<BytePath, WeakRef<Tree>>();
  readonly #root: BytePath;
  readonly #folders = new Map<BytePath, TreeFolder>();
  #device: number | undefined;

  /** `root` is absolute and real. */
  static of(root: BytePath): Tree {
    const known = Tree.#trees.get(root)?.deref();
    if (known) return known;
    for (const [path, tree] of Tree.#trees) if (!tree.deref()) Tree.#trees.delete(path);
    const tree = new Tree(root);
    Tree.#trees.set(root, new WeakRef(tree));
    return tree;
  }

  private constructor(root: BytePath) {
    this.#root = root;
  }

  /** Whether times of the root's file system show every change, by our clock. Known once the root has been read. */
  get isLocal(): boolean {
    return this.#device !== undefined;
  }

  /**
   * The folder as it is now. `stats` are those of its path, if the caller has just taken them. Undefined for a folder
   * that is not where its path says, or that may not be read. Throws the system's error for any other failure.
   */
  read(folder: BytePath, stats = statsOf(folder)): TreeFolder | undefined {
    const known = this.#folders.get(folder);
    if (known && stats && isAsRead(known, stats)) return known;
    const readMs = Date.now();
    const read = inHeld(folder, (held, now) => readHeld(held, { ...stampOf(now), readMs }));
    if (folder === this.#root && read) this.#device = stampedDevice(folder);
    this.#forget(folder, read);
    if (read && read.dev === this.#device) this.#folders.set(folder, read);
    return read;
  }

  /** Forgets a folder, and all below it that `now` does not have. */
  #forget(folder: BytePath, now?: TreeFolder): void {
    const known = this.#folders.get(folder);
    if (known === undefined) return;
    this.#folders.delete(folder);
    for (const [name, kind] of known.entries)
      if (kind === 'folder' && now?.entries.get(name) !== kind) this.#forget(`${folder}/${name}`);
  }
}

function isAsRead(folder: TreeFolder, stats: Stats): boolean {
  return isSettled(folder, folder.readMs, TREE_LIMITS.settledMs) && isSameStamp(folder, stats);
}

/** Stamp and entries are those of one folder, also where a program exchanges folders meanwhile. */
function readHeld(held: BytePath, stamp: Omit<TreeFolder, 'entries'>): TreeFolder | undefined {
  const read = unlessUnreachable(() =>
    readdirSync(toPathLike(held), { withFileTypes: true, encoding: 'latin1' }),
  );
  return read && { ...stamp, entries: new Map(read.map((entry) => [entry.name, kindOf(entry)])) };
}
