/** Reads ignore files, and decides by those of all folders above a path. */
import {
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  openSync,
  readSync,
  type Stats,
} from 'node:fs';
import { isSystemError } from '../../../machine/system-error.ts';
import { TREE_LIMITS } from '../tree/limits.ts';
import { isSettled, stampText } from '../tree/stamp.ts';
import { IGNORED_LIMITS } from './limits.ts';
import { isIgnored, type Patterns, toPatterns } from './patterns.ts';

/** Close paths to tools and to commands. */
export const SECRET_IGNORE_FILES = ['.cursorignore'] as const;
/** Close paths to tools. */
export const TOOL_IGNORE_FILES = [...SECRET_IGNORE_FILES, '.geminiignore', '.qwenignore'] as const;
/** Leave paths out of what the model gets without having asked for the path. */
export const INDEX_IGNORE_FILES = ['.cursorindexingignore'] as const;

/** An ignore file, or what stands in its place. */
export interface IgnoreFile {
  readonly name: string;
  /** Latin1: one character for each byte. */
  readonly path: string;
  /** As the sandbox's scan has it. */
  readonly identity: string;
  readonly changedMs: number;
  /** Changes with the file's content. Empty where the file must be read each time. */
  readonly stamp: string;
  readonly content:
    | { readonly state: 'rules'; readonly patterns: Patterns }
    /** It cannot be read as rules, so it closes its whole folder. `kind` completes "It is ...". */
    | { readonly state: 'odd'; readonly kind: string };
}

/** The ignore files that are about a folder's entries, each with the names that lead to the folder from the file's. */
export type IgnoreChain = readonly Ring[];

interface Ring {
  readonly file: IgnoreFile;
  /** The names from the file's folder to the root; empty for a file inside the root. */
  readonly lead: readonly string[];
  /** Names of a path below the root that lead to the file's folder. */
  readonly depth: number;
}

/**
 * The file that closes an entry, by the names that lead to it from the root; undefined for an open one. The caller has
 * asked for the folders on the way. A rule that opens a path counts in its own file only, so that a file in a folder
 * below can close more, and open nothing.
 */
export function closingIn(
  chain: IgnoreChain,
  names: readonly string[],
  isFolder: boolean,
): IgnoreFile | undefined {
  if (names.at(-1) === '.git') return undefined;
  return chain.find(({ file: { content }, lead, depth }) =>
    content.state === 'odd'
      ? depth < names.length
      : isIgnored(content.patterns, [...lead, ...names.slice(depth)], isFolder),
  )?.file;
}

/** The chain for the entries of a folder in which these files lie. */
export function withFiles(
  chain: IgnoreChain,
  files: readonly IgnoreFile[],
  depth: number,
): IgnoreChain {
  return files.length === 0
    ? chain
    : [...chain, ...files.map((file) => ({ file, lead: [], depth }))];
}

/**
 * The files of the folders above the root, up to the top of its repository, or of the disk. They close the root's
 * entries, never the root itself: a person has opened it. What is no regular file there is passed over. Returns
 * `previous` where nothing has changed since. A `.git` in `writable` or below is no top, because a command can make one.
 */
export function chainAbove(
  root: string,
  names: readonly string[],
  previous: IgnoreChain = [],
  writable = root,
): IgnoreChain {
  const lead: string[] = [];
  const rings: Ring[] = [];
  const isTop = (folder: string) =>
    folder !== writable &&
    !folder.startsWith(`${writable}/`) &&
    statIfAny(`${folder}/.git`) !== undefined;
  for (let folder = root; folder !== '' && !isTop(folder); ) {
    const at = folder.lastIndexOf('/');
    lead.unshift(textOf(folder.slice(at + 1)));
    folder = folder.slice(0, at);
    for (const name of names) {
      const before = previous.find(({ file }) => file.path === `${folder}/${name}`);
      const file = readIgnoreFile(folder, name, before?.file);
      if (file?.content.state !== 'rules') continue;
      rings.unshift(file === before?.file ? before : { file, lead: [...lead], depth: 0 });
    }
  }
  const isSame =
    rings.length === previous.length && rings.every((ring, at) => ring === previous[at]);
  return isSame ? previous : rings;
}

/**
 * Reads a folder's ignore file; undefined where it has none. `previous` is returned where the file is as it was then.
 * Never waits, and never reads without end. A link is not followed: no sandbox can keep a command from replacing it.
 */
export function readIgnoreFile(
  folder: string,
  name: string,
  previous?: IgnoreFile,
): IgnoreFile | undefined {
  const path = `${folder}/${name}`;
  const stats = statIfAny(path);
  if (stats === undefined) return undefined;
  const stamp = isSettled(stats, Date.now(), TREE_LIMITS.settledMs) ? stampText(stats) : '';
  const { dev, ino, birthtimeMs, ctimeMs } = stats;
  const identity = [dev, ino, Math.floor(birthtimeMs)].join(':');
  const isAsBefore = stamp !== '' && previous?.stamp === stamp && previous.identity === identity;
  if (isAsBefore) return previous;
  const changedMs = Math.floor(ctimeMs);
  return { path, name, identity, changedMs, stamp, content: readContent(path) };
}

function readContent(path: string): IgnoreFile['content'] {
  try {
    return readOpened(path);
  } catch (error) {
    if (isSystemError(error, 'ELOOP')) return { state: 'odd', kind: 'a symbolic link' };
    if (isSystemError(error, 'ENXIO')) return { state: 'odd', kind: 'a socket' };
    if (isSystemError(error, 'EACCES', 'EPERM')) return { state: 'odd', kind: UNREADABLE };
    return { state: 'odd', kind: 'a file that was replaced while it was read' };
  }
}

const UNREADABLE = "a file that the bridge's user may not read";

function readOpened(path: string): IgnoreFile['content'] {
  const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = constants;
  const descriptor = openSync(bytesOf(path), O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  try {
    const stats = fstatSync(descriptor);
    if (stats.isDirectory()) return { state: 'odd', kind: 'a folder' };
    if (!stats.isFile()) return { state: 'odd', kind: 'a pipe or a device' };
    const bytes = Buffer.alloc(IGNORED_LIMITS.maxBytes + 1);
    const length = readSync(descriptor, bytes, 0, bytes.length, 0);
    const text = bytes.toString('utf8', 0, length).replace(/^\uFEFF/, '');
    const patterns = length < bytes.length ? toPatterns(text) : undefined;
    return patterns ? { state: 'rules', patterns } : { state: 'odd', kind: 'far too large' };
  } finally {
    closeSync(descriptor);
  }
}

function statIfAny(path: string): Stats | undefined {
  try {
    return lstatSync(bytesOf(path), { throwIfNoEntry: false });
  } catch {
    // No ignore file can lie behind what is no folder, or behind one that we may not enter.
    return undefined;
  }
}

function bytesOf(path: string): Buffer {
  return Buffer.from(path, 'latin1');
}

function textOf(path: string): string {
  return bytesOf(path).toString();
}
