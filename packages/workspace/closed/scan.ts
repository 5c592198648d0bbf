/** Finds the protected and secret paths of a workspace. Each later look reads only the folders that changed. */
import type { Stats } from 'node:fs';
import { type BytePath, toText } from '../../../machine/byte-path.ts';
import { Turns } from '../../../machine/compute/turns.ts';
import type { EntryKind } from '../../../machine/entry-kind.ts';
import {
  chainAbove,
  closingIn,
  type IgnoreChain,
  type IgnoreFile,
  readIgnoreFile,
  SECRET_IGNORE_FILES,
  withFiles,
} from '../ignored/chain.ts';
import { FOLDER_LIMITS } from '../limits.ts';
import { statsOf } from '../tree/held.ts';
import { Tree, type TreeFolder } from '../tree/tree.ts';
import {
  type Closure,
  closureOfEntry,
  looksLikeRepository,
  REPOSITORY_SETTINGS,
} from './protected.ts';

/**
 * The ids by which the kernel decides what a command may enter. A command has no further groups and no capabilities.
 */
export interface Rights {
  readonly uid: number;
  readonly gid: number;
}

/** A path that commands may not change, or not even read. */
export interface ClosedEntry {
  readonly path: BytePath;
  readonly closure: Closure;
  readonly kind: 'file' | 'folder' | 'link';
  /** See {@link identityOf}. */
  readonly identity: string;
  /** Set for a folder that is closed only because it is unreadable or too deep: see {@link canBeLookedInto}. */
  readonly isUnreadable?: true;
  /** Set for a secret that a program obeys by its name, as it does a protected entry. */
  readonly isObeyed?: true;
  /** Set for an entry that this ignore file closes. */
  readonly by?: IgnoreFile;
  /** Set for a secret that only a link names so: see linked-places.ts. */
  readonly isLed?: true;
  /** Set for a folder in which an ignore file closes very many entries: commands cannot see it at all. */
  readonly isCrowded?: true;
}

export interface ClosedEntries {
  /** The nearest to the workspace's root first. */
  readonly entries: readonly ClosedEntry[];
  /** Links in protected folders, `.git` apart. */
  readonly links: readonly BytePath[];
  /** See `wanted` of the options. */
  readonly wanted: readonly BytePath[];
  /** Whether time ran out before the look was complete. */
  readonly isCut: boolean;
  /** The workspace's own ignore file, where it cannot be read. */
  readonly odd?: IgnoreFile;
}

export interface ScanOptions {
  /** See {@link canBeLookedInto}. */
  readonly rights?: Rights | undefined;
  /** The folders whose ignore files count for the workspace's entries: it, and the one that it stands for. */
  readonly ignoring?: readonly BytePath[];
  /** The folder around that commands may write to; without it, each of `ignoring`. */
  readonly writable?: BytePath;
  /** Names whose paths the look lists, too, except those in closed folders and in installed packages. */
  readonly wanted?: ReadonlySet<BytePath>;
  /** Secrets that the machine's owner opens, by name (see owners-choice.ts). An ignore file still closes them. */
  readonly opened?: ReadonlySet<BytePath>;
}

/**
 * Looks at one workspace. It looks into every folder, installed packages too, because a command can move a project into
 * one. It looks up names one after the other, so a running program can mislead a look. A look that must be right needs
 * all programs stopped.
 */
export class WorkspaceScan {
  readonly #root: BytePath;
  readonly #tree: Tree;
  readonly #rights: Rights | undefined;
  readonly #ignoring: readonly BytePath[];
  readonly #writable: BytePath | undefined;
  readonly #wanted: ReadonlySet<BytePath>;
  readonly #opened: ReadonlySet<BytePath>;
  /** The ignore files outside of the workspace, as the look before saw them. */
  #outer: IgnoreChain = [];
  #odd: IgnoreFile | undefined;
  #maxIgnored: number = FOLDER_LIMITS.maxIgnoredEntries[0];
  readonly #listings = new WeakMap<TreeFolder, FolderListing>();
  /** Those of the look before whose folders have an ignore file, by path. */
  #ignoringFolders = new Map<BytePath, FolderListing>();

  constructor(
    root: BytePath,
    { rights, ignoring = [], writable, wanted = new Set(), opened = new Set() }: ScanOptions = {},
  ) {
    this.#root = root;
    this.#rights = rights;
    this.#ignoring = ignoring;
    this.#writable = writable;
    this.#wanted = wanted;
    this.#opened = opened;
    this.#tree = Tree.of(root);
  }

  /**
   * Closes more folders as a whole from the next look on. False where it has done so before.
   */
  coarsen(): boolean {
    const [, coarse] = FOLDER_LIMITS.maxIgnoredEntries;
    const isNew = this.#maxIgnored !== coarse;
    this.#maxIgnored = coarse;
    return isNew;
  }

  /** The caller must not start a second look before the first one's end. */
  async look(limitMs: number): Promise<ClosedEntries> {
    const deadline = performance.now() + limitMs;
    const ignoringFolders = new Map<BytePath, FolderListing>();
    const entries: ClosedEntry[] = [];
    const links: BytePath[] = [];
    const wanted: BytePath[] = [];
    const folders: Folder[] = [{ path: this.#root, isProtected: false, chain: this.#lookAbove() }];
    const turns = new Turns();
    for (const folder of folders) {
      const isThere = this.#lookInto(folder, { folders, entries, links, wanted, ignoringFolders });
      // The workspace is not where its path says: somebody has moved it, and nothing is known of it.
      const isLost = !isThere && folder.path === this.#root;
      if (isLost) return { entries, links, wanted, isCut: true };
      if (!turns.isDue) continue;
      if (performance.now() > deadline) return { entries, links, wanted, isCut: true };
      await turns.take();
    }
    this.#ignoringFolders = ignoringFolders;
    return { entries, links, wanted, isCut: false, ...(this.#odd && { odd: this.#odd }) };
  }

  /** The chain for the workspace's entries, before its own file. The same as before where nothing has changed. */
  #lookAbove(): IgnoreChain {
    const [own, ...others] = this.#ignoring;
    const before = this.#outer;
    const above = (folder: BytePath) =>
      chainAbove(folder, SECRET_IGNORE_FILES, before, this.#writable);
    const rings = [
      ...(own === undefined ? [] : above(own)),
      ...others.flatMap((folder) => [...above(folder), ...ownRing(folder, before)]),
    ];
    const isSame = rings.length === before.length && rings.every((ring, at) => ring === before[at]);
    if (!isSame) this.#outer = rings;
    return this.#outer;
  }

  /** False where the folder is not where its path says. */
  #lookInto(
    { path: folder, isProtected, isInstalled = false, isClosed, chain }: Folder,
    found: {
      folders: Folder[];
      entries: ClosedEntry[];
      links: BytePath[];
      wanted: BytePath[];
      ignoringFolders: Map<BytePath, FolderListing>;
    },
  ): boolean {
    const stats = statsOf(folder);
    if (stats === undefined) return true;
    if (folder !== this.#root && !canBeLookedInto(folder, stats, this.#rights)) {
      if (isClosed) return true;
      const whole = { closure: 'secret', kind: 'folder', isUnreadable: true } as const;
      found.entries.push({ path: folder, identity: identityOf(stats), ...whole });
      return true;
    }
    const read = this.#tree.read(folder, stats);
    if (read === undefined) return false;
    const known = this.#listings.get(read);
    const listing = isStillTrue(folder, known, chain) ? known : this.#list(folder, read, chain);
    if (listing.own) found.ignoringFolders.set(folder, listing);
    if (folder === this.#root) this.#odd = isOdd(listing.own) ? listing.own : undefined;
    const { own, ignoredBy } = listing;
    const wholeBy = isOdd(own) ? own : ignoredBy[this.#maxIgnored];
    if (wholeBy !== undefined && folder !== this.#root && !isClosed) {
      const isCrowded = isOdd(wholeBy) ? {} : ({ isCrowded: true } as const);
      const whole = { closure: 'secret', kind: 'folder', by: wholeBy, ...isCrowded } as const;
      found.entries.push({ path: folder, identity: identityOf(stats), ...whole });
      // Its own ignore file is held, too: a change of the file may open the folder again.
      const closing = listing.closed.find(({ path }) => path === own?.path);
      const entry = closing && toClosed(closing);
      if (entry) found.entries.push(entry);
      return true;
    }
    if (isProtected) found.links.push(...listing.links);
    else if (!isInstalled) found.wanted.push(...listing.wanted);
    for (const closing of listing.closed) {
      const entry = toClosed(closing);
      if (entry === undefined) continue;
      const isSecret = entry.closure === 'secret';
      if (isSecret || !isProtected) found.entries.push(entry);
      const isSearched = !isSecret && entry.kind === 'folder' && !entry.path.endsWith(GIT);
      if (!isSearched) continue;
      const { path } = entry;
      found.folders.push({ path, isProtected: true, isClosed: !isProtected, chain: listing.chain });
    }
    for (const path of listing.below) {
      const isPackages = isInstalled || path.endsWith('/node_modules');
      found.folders.push({ path, isProtected, isInstalled: isPackages, chain: listing.chain });
    }
    return true;
  }

  #list(folder: BytePath, read: TreeFolder, above: IgnoreChain): FolderListing {
    const known = this.#ignoringFolders.get(folder);
    const { entries } = read;
    const names = toText(folder.slice(this.#root.length)).split('/').slice(1);
    const own = this.#ignoring.length === 0 ? undefined : ownFile(folder, entries, known?.own);
    const isSameChain = known !== undefined && known.above === above && known.own === own;
    // As long as a chain is the same object, the folders below need no new listing.
    const chain = isSameChain ? known.chain : withFiles(above, own ? [own] : [], names.length);
    const isRepository = looksLikeRepository(entries);
    const closed: NamedClosure[] = [];
    const below: BytePath[] = [];
    const links: BytePath[] = [];
    const wanted: BytePath[] = [];
    for (const [name, kind] of entries) {
      const path = join(folder, name);
      const isSetting = isRepository && REPOSITORY_SETTINGS.has(name);
      const how =
        closureIn(chain, names, { name, kind, isOpened: this.#opened.has(path) }) ??
        (isSetting ? ({ closure: 'protected' } as const) : undefined);
      if (how !== undefined) closed.push({ path, ...how });
      else if (kind === 'folder') below.push(path);
      if (kind === 'link') links.push(path);
      if (this.#wanted.has(name)) wanted.push(path);
    }
    const ignoredBy = closed.flatMap(({ by }) => by ?? []);
    const listing = { closed, above, own, chain, below, links, wanted, ignoredBy };
    this.#listings.set(read, listing);
    return listing;
  }
}

interface Folder {
  readonly path: BytePath;
  /** Whether commands cannot write to the folder and everything in it. Secrets in it are closed as well. */
  readonly isProtected: boolean;
  /** Whether it lies among installed packages. */
  readonly isInstalled?: boolean;
  /** Whether the folder is itself a closed entry. */
  readonly isClosed?: boolean;
  /** The ignore files above the folder. */
  readonly chain: IgnoreChain;
}

/** Git puts no secrets into its folder, but a branch may have the name of one. */
const GIT = '/.git';

/**
 * Changes when another file or folder takes the place. Two that get the same inode number differ in their birth time.
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

/** An entry that its name or an ignore file closes. */
type NamedClosure = Pick<ClosedEntry, 'path' | 'closure' | 'by' | 'isObeyed'>;

/** What a look makes of a folder's entries. */
interface FolderListing {
  readonly closed: readonly NamedClosure[];
  /** Paths of the folders in it that are not closed. */
  readonly below: readonly BytePath[];
  /** Paths of the links in it, and of wanted names. */
  readonly links: readonly BytePath[];
  readonly wanted: readonly BytePath[];
  /** The ignore files above the folder, and its own. */
  readonly above: IgnoreChain;
  readonly own: IgnoreFile | undefined;
  /** Both together. */
  readonly chain: IgnoreChain;
  /** For each ignored entry the file that closes it. */
  readonly ignoredBy: readonly IgnoreFile[];
}

/** Whether the listing still holds. */
function isStillTrue(
  folder: BytePath,
  listing: FolderListing | undefined,
  above: IgnoreChain,
): listing is FolderListing {
  if (listing?.above !== above) return false;
  const { own } = listing;
  return own === undefined || readIgnoreFile(folder, own.name, own) === own;
}

/** How an entry is closed; undefined for an open one. `folderNames` lead from the root to its folder. */
function closureIn(
  chain: IgnoreChain,
  folderNames: readonly string[],
  entry: { readonly name: BytePath; readonly kind: EntryKind; readonly isOpened: boolean },
): Omit<NamedClosure, 'path'> | undefined {
  const name = toText(entry.name);
  const around = folderNames.at(-1) ?? '';
  const { closure, isObeyed } = closureOfEntry(around, name, entry.kind === 'link');
  if (closure === 'secret' && !entry.isOpened) return { closure, ...(isObeyed && { isObeyed }) };
  const by =
    chain.length === 0
      ? undefined
      : closingIn(chain, [...folderNames, name], entry.kind === 'folder');
  if (by !== undefined) return { closure: 'secret', by };
  return isObeyed ? { closure: 'protected' } : undefined;
}

/** The chain of an ignore file outside of the workspace, with its ring of before where that is still true. */
function ownRing(folder: BytePath, before: IgnoreChain): IgnoreChain {
  return SECRET_IGNORE_FILES.flatMap((name) => {
    const ring = before.find(({ file }) => file.path === join(folder, name));
    const file = readIgnoreFile(folder, name, ring?.file);
    return ring !== undefined && ring.file === file ? [ring] : withFiles([], file ? [file] : [], 0);
  });
}

function ownFile(
  folder: BytePath,
  entries: TreeFolder['entries'],
  previous: IgnoreFile | undefined,
): IgnoreFile | undefined {
  const [name] = SECRET_IGNORE_FILES.filter((each) => entries.has(each));
  return name === undefined ? undefined : readIgnoreFile(folder, name, previous);
}

/** As the entry is now. Undefined for one that has gone since. */
function toClosed(closing: NamedClosure): ClosedEntry | undefined {
  const stats = statsOf(closing.path);
  if (stats === undefined) return undefined;
  const kind = stats.isSymbolicLink() ? 'link' : stats.isDirectory() ? 'folder' : 'file';
  return { ...closing, kind, identity: identityOf(stats) };
}

function isOdd(file: IgnoreFile | undefined): boolean {
  return file?.content.state === 'odd';
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
  return (mode & needed) === needed && path.length <= FOLDER_LIMITS.maxPathBytes;
}

function join(folder: BytePath, name: string): BytePath {
  return `${folder}/${name}`;
}
