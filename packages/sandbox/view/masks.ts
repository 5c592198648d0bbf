/**
 * What lies over secret files: those that git tracks, and settings of package managers. A mask has the size and the time
 * by which git knows the file as unchanged, and no content, so git neither reads, adds nor removes it. Of settings it
 * has what is no credential.
 */

import { createHash, randomUUID } from 'node:crypto';
import {
  chmodSync,
  closeSync,
  constants,
  fchmodSync,
  fstatSync,
  ftruncateSync,
  futimesSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname } from 'node:path';
import { type BytePath, fromText, isBelow, toBytes, toText } from '../../../machine/byte-path.ts';
import {
  type ClosedEntry,
  FOLDER_LIMITS,
  type IndexEntry,
  identityOf,
  namedFolder,
  readIndex,
  readText,
  settleIndex,
  stampText,
} from '../../workspace/index.ts';
import { SANDBOX_LIMITS } from '../limits.ts';
import type { Author } from './git-author.ts';
import { shownSettings } from './shown-settings.ts';

/** The tracked files at or below the path of a secret entry, by their paths. */
export type Tracked = ReadonlyMap<BytePath, ReadonlyMap<BytePath, IndexEntry>>;

/** Finds what git tracks among closed entries. It reads an index again only when it has changed. */
export class TrackedSecrets {
  readonly #known = new Map<BytePath, { readonly stamp: string; readonly files: Files }>();
  readonly #isOwnFolder: (path: BytePath) => boolean;

  /** `isOwnFolder` says which folders of linked worktrees and submodules may be written to. */
  constructor(isOwnFolder: (path: BytePath) => boolean) {
    this.#isOwnFolder = isOwnFolder;
  }

  /** With `settle`, entries in doubt are settled before: see {@link settleIndex}. */
  look(entries: readonly ClosedEntry[], { settle = false } = {}): Tracked {
    const secrets = secretsAmong(entries);
    const repositories = new Map<BytePath, ClosedEntry[]>();
    for (const entry of secrets) {
      const repository = repositoryAround(entry.path);
      if (repository === undefined) continue;
      repositories.set(repository, [...(repositories.get(repository) ?? []), entry]);
    }
    const tracked = new Map<BytePath, Files>();
    let room: number = SANDBOX_LIMITS.maxMaskedFiles;
    for (const [repository, within] of repositories) {
      const files = this.#filesOf(repository, within, settle);
      for (const { path, kind } of within) {
        const own = [...files].filter(([file]) => file === path || isBelow(path, file));
        // A folder cannot be mounted on a file, nor a file on a folder.
        const isFitting = own.every(([file]) => (file === path) === (kind === 'file'));
        if (own.length === 0 || own.length > room || !isFitting) continue;
        tracked.set(path, new Map(own));
        room -= own.length;
      }
    }
    return tracked;
  }

  #filesOf(repository: BytePath, secrets: readonly ClosedEntry[], settle: boolean): Files {
    const place = indexOf(repository, this.#isOwnFolder);
    if (place === undefined) return new Map();
    const { path: index, isOwn } = place;
    const paths = secrets.map(({ path }) => path.slice(repository.length + 1));
    const exact = new Set(paths);
    const isWanted = (name: BytePath) =>
      exact.has(name) || paths.some((path) => isBelow(path, name));
    const isKnown = this.#known.get(index);
    const stamp = () => `${stampOf(index)} ${paths.join('\0')}`;
    if (isKnown?.stamp === stamp()) return isKnown.files;
    if (settle && isOwn) settleIndex(index, isWanted);
    const found = { stamp: stamp(), files: new Map<BytePath, IndexEntry>() };
    for (const entry of readIndex(index, isWanted)) {
      found.files.set(`${repository}/${entry.name}`, entry);
    }
    // Until it has been tried, a later look with `settle` may change the index.
    const isOpen = [...found.files.values()].some(({ isDoubtful }) => isDoubtful);
    if (settle || !isOpen) this.#known.set(index, found);
    return found.files;
  }
}

type Files = ReadonlyMap<BytePath, IndexEntry>;

export interface Mask {
  /** What is mounted. Another look of the mask has another source. */
  readonly source: BytePath;
  readonly identity: string;
}

/** The masks of entries, by the entries' paths. */
export type MasksByPath = ReadonlyMap<BytePath, Mask>;

/** A file of ours that commands see. */
export interface OwnFile extends Mask {
  readonly place: BytePath;
}

/** Masks on the disk, and two files for git beside them. A command needs the files in the mask of a folder until it ends, so all stay until disposal. */
export class Masks implements Disposable {
  readonly #made = new Map<string, Mask>();
  readonly #texts = new Map<string, BytePath>();
  readonly #parent: string;
  #folder: BytePath | undefined;

  /** `parent` as `maskFolder` of the surroundings. */
  constructor(parent: string) {
    this.#parent = parent;
  }

  /** Makes masks where there are none that look as these must, or where a cleaner of temporary files removed some. */
  of(tracked: Tracked, entries: readonly ClosedEntry[]): MasksByPath {
    const masks = new Map<BytePath, Mask>();
    const settings = new Map(
      entries.map((entry) => [entry.path, settingsOf(entry, tracked.get(entry.path))]),
    );
    for (const [path, shown] of settings) {
      if (shown === undefined) continue;
      const { content, ...part } = shown;
      const digest = createHash('sha256').update(content, 'latin1').digest('hex');
      this.#add(masks, path, `${path}\n${digest}`, [part], content);
    }
    for (const [path, files] of tracked) {
      if (masks.has(path)) continue;
      const parts = [...files].map(([file, entry]) => ({
        ...entry,
        name: file.slice(path.length),
      }));
      this.#add(masks, path, path, parts);
    }
    return masks;
  }

  #add(
    masks: Map<BytePath, Mask>,
    path: BytePath,
    about: string,
    parts: readonly MaskPart[],
    content?: string,
  ): void {
    const look = parts.map((part) => Object.values(part).join('\0')).join('\n');
    const key = `${about}\n${look}`;
    try {
      const known = this.#made.get(key);
      const mask = known && isWhole(known, parts) ? known : this.#make(parts, content);
      this.#made.set(key, mask);
      masks.set(path, mask);
    } catch {
      // The disk for temporary files is full, or the index is no good. The entry is closed without a mask.
    }
  }

  /** By this file git ignores the secrets that it does not track: it could not add them. */
  ignoring(entries: readonly ClosedEntry[], place: BytePath): OwnFile[] {
    const names = secretsAmong(entries).flatMap(({ path }) => {
      const repository = repositoryAround(path);
      return repository === undefined || path.includes('\n') ? [] : [path.slice(repository.length)];
    });
    if (names.length === 0) return [];
    const patterns = names.map((name) => `${name.replaceAll(/[\\*?[ ]/g, '\\$&')}\n`);
    return [this.#show('ignore', patterns.join(''), place)];
  }

  /**
   * Git's own settings in the sandbox, with nothing but the author of commits: a repository's settings count before
   * them. Another author later changes the file that is mounted.
   */
  naming({ name, email }: Author, place: BytePath): OwnFile {
    const quoted = (text: string) => `"${text.replaceAll(/["\\]/g, '\\$&').replaceAll('\n', ' ')}"`;
    const text = `[user]\n\tname = ${quoted(name)}\n\temail = ${quoted(email)}\n`;
    return this.#show('gitconfig', fromText(text), place);
  }

  [Symbol.dispose](): void {
    if (this.#folder === undefined) return;
    removeMasks(toText(this.#folder));
    this.#folder = undefined;
  }

  #show(name: string, text: BytePath, place: BytePath): OwnFile {
    const source = `${this.#inFolder()}/${name}`;
    if (this.#texts.get(name) !== text || lstatIfAny(source) === undefined) {
      const descriptor = openSync(toBytes(source), REWRITTEN, 0o644);
      try {
        writeFileSync(descriptor, toBytes(text));
      } finally {
        closeSync(descriptor);
      }
      this.#texts.set(name, text);
    }
    return { source, place, identity: identityOf(lstatSync(toBytes(source))) };
  }

  #make(parts: readonly MaskPart[], content?: string): Mask {
    const source = `${this.#inFolder()}/${randomUUID()}`;
    const folders = new Set(parts.flatMap(({ name }) => foldersAbove(name)));
    const outermost = [...folders].sort((a, b) => a.length - b.length);
    try {
      for (const folder of outermost) mkdirSync(toBytes(`${source}${folder}`), { mode: ENTERED });
      for (const part of parts) makeMask(`${source}${part.name}`, part, content);
    } catch (error) {
      rmSync(toBytes(source), { recursive: true, force: true });
      throw error;
    }
    for (const folder of outermost.toReversed()) chmodSync(toBytes(`${source}${folder}`), SEARCHED);
    return { source, identity: identityOf(lstatSync(toBytes(source))) };
  }

  #inFolder(): BytePath {
    if (this.#folder === undefined || lstatIfAny(this.#folder) === undefined) {
      mkdirSync(this.#parent, { recursive: true, mode: ENTERED });
      this.#folder = fromText(mkdtempSync(`${this.#parent}/`));
      chmodSync(toBytes(this.#folder), ENTERED); // Commands may be another user's.
    }
    return this.#folder;
  }
}

/** A file of a mask. `name` begins with `/`, or is empty for a mask that is one file. */
type MaskPart = Pick<IndexEntry, 'name' | 'size' | 'changedS' | 'isExecutable'>;

/**
 * What a command sees of settings. Undefined for a file that git would then take for changed, and for one that another
 * program put there since the look.
 */
function settingsOf(
  { path, closure, kind, by, identity }: ClosedEntry,
  tracked: Files | undefined,
): (MaskPart & { readonly content: string }) | undefined {
  const name = basename(path);
  const isSettings = closure === 'secret' && kind === 'file' && by === undefined;
  if (!isSettings || shownSettings(name, '') === undefined) return undefined;
  try {
    const descriptor = openSync(toBytes(path), READ_SAFELY);
    try {
      const stats = fstatSync(descriptor);
      const isSame = stats.isFile() && identityOf(stats) === identity;
      if (!isSame || stats.size > FOLDER_LIMITS.maxConfigBytes) return undefined;
      const content = shownSettings(name, readFileSync(descriptor, 'latin1'));
      const known = tracked?.get(path);
      if (content === undefined || (known && known.size !== content.length)) return undefined;
      const changedS = known?.changedS ?? Math.floor(stats.mtimeMs / 1_000);
      const isExecutable = known?.isExecutable ?? false;
      return { name: '', size: content.length, changedS, isExecutable, content };
    } finally {
      closeSync(descriptor);
    }
  } catch {
    return undefined; // It has gone, or we may not read it.
  }
}

const READ_SAFELY = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;

function isWhole({ source }: Mask, parts: readonly MaskPart[]): boolean {
  return parts.every(({ name }) => lstatIfAny(`${source}${name}`) !== undefined);
}

/** Of `/a/b`: `''` and `/a`. Of `''`, the name of a file that is masked itself: none. */
function foldersAbove(name: BytePath): BytePath[] {
  const parts = name.split('/').slice(0, -1);
  return parts.map((_, index) => parts.slice(0, index + 1).join('/'));
}

function makeMask(path: BytePath, part: MaskPart, content?: string): void {
  const { size, changedS, isExecutable } = part;
  const descriptor = openSync(toBytes(path), 'wx', 0o600);
  try {
    if (content === undefined) ftruncateSync(descriptor, size);
    else writeFileSync(descriptor, content, 'latin1');
    futimesSync(descriptor, changedS, changedS);
    fchmodSync(descriptor, (isExecutable ? 0o111 : 0) | (content === undefined ? 0 : 0o444));
  } finally {
    closeSync(descriptor);
  }
}

/** Those of a killed bridge are removed at its next start. Opens the folders, which cannot be listed, before. */
export function removeMasks(folder: string): void {
  const open = (path: BytePath) => {
    chmodSync(toBytes(path), 0o700);
    for (const entry of readdirSync(toBytes(path), { withFileTypes: true, encoding: 'latin1' })) {
      if (entry.isDirectory()) open(`${path}/${entry.name}`);
    }
  };
  try {
    open(fromText(folder));
    rmSync(folder, { recursive: true, force: true });
  } catch {
    // There are none, or they are not ours. Masks are empty.
  }
}

const REWRITTEN = constants.O_WRONLY | constants.O_CREAT | constants.O_TRUNC | constants.O_NOFOLLOW;

const ENTERED = 0o711;
/** Names in it can be looked up, and not listed. */
const SEARCHED = 0o111;

function secretsAmong(entries: readonly ClosedEntry[]): ClosedEntry[] {
  return entries.filter(({ closure, kind }) => closure === 'secret' && kind !== 'link');
}

/** The nearest folder with a `.git` around the path. */
function repositoryAround(path: BytePath): BytePath | undefined {
  for (let folder = dirname(path); ; folder = dirname(folder)) {
    if (lstatIfAny(`${folder}/.git`) !== undefined) return folder;
    if (folder === '/') return undefined;
  }
}

/**
 * In a linked worktree or a submodule `.git` is a file that names the folder. A command can write such a file too, and
 * links to places outside of the workspace: `isOwn` says that the folder is no link, that it names the worktree in
 * return or is a submodule's, and that it may be written to.
 */
function indexOf(
  repository: BytePath,
  isOwnFolder: (path: BytePath) => boolean,
): { path: BytePath; isOwn: boolean } | undefined {
  const dotGit = `${repository}/.git`;
  if (lstatIfAny(dotGit)?.isDirectory()) return { path: `${dotGit}/index`, isOwn: true };
  const folder = namedFolder(dotGit);
  if (folder === undefined) return undefined;
  const isGits =
    readText(`${folder}/gitdir`, FOLDER_LIMITS.maxPathBytes).trim() === dotGit ||
    folder.startsWith(`${repositoryAround(repository)}/.git/modules/`);
  const isOwn = isGits && isOwnFolder(folder) && realIfAny(folder)[0] === folder;
  return { path: `${folder}/index`, isOwn };
}

function realIfAny(path: BytePath): [BytePath] | [] {
  try {
    return [realpathSync(toBytes(path), { encoding: 'latin1' })];
  } catch {
    return []; // There is none, or it lies behind a folder that we may not enter.
  }
}

function stampOf(path: BytePath): string {
  const stats = lstatIfAny(path);
  return stats === undefined ? '' : stampText(stats);
}

function lstatIfAny(path: BytePath) {
  try {
    return lstatSync(toBytes(path), { throwIfNoEntry: false });
  } catch {
    return undefined; // It lies behind a folder that we may not enter.
  }
}
