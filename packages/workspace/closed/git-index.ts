/** Git's index: what git remembers of a file's size and time, by which it knows a file as unchanged without reading it. */
import { createHash } from 'node:crypto';
import {
  closeSync,
  constants,
  fchmodSync,
  fchownSync,
  fstatSync,
  futimesSync,
  openSync,
  readSync,
  renameSync,
  rmSync,
  type Stats,
  writeFileSync,
} from 'node:fs';
import { posix } from 'node:path';
import { type BytePath, toBytes } from '../../../machine/byte-path.ts';
import { FOLDER_LIMITS } from '../limits.ts';

/** A regular file, as the index knows it. */
export interface IndexEntry {
  /** Relative to the repository's folder. */
  readonly name: BytePath;
  readonly size: number;
  /** Whole seconds of the epoch. */
  readonly changedS: number;
  readonly isExecutable: boolean;
  /** Whether size and time are not enough for git, which then reads the file. */
  readonly isDoubtful: boolean;
}

/** The wanted files in an index; none where it is missing, or in a form that only git reads. */
export function readIndex(
  path: BytePath,
  isWanted: (name: BytePath) => boolean,
): readonly IndexEntry[] {
  return openIndex(path)?.entries.filter(({ name }) => isWanted(name)) ?? [];
}

/**
 * Gives the wanted files that are in doubt a size and a time in the index which no doubt can be about, and which the
 * files do not have: git outside the sandbox then reads the file, as it does with any that was touched. The index keeps
 * its own time, by which git knows other files as doubtful. Does nothing while git writes the index.
 */
export function settleIndex(path: BytePath, isWanted: (name: BytePath) => boolean): void {
  const lock = `${path}.lock`;
  let descriptor: number;
  try {
    descriptor = openSync(toBytes(lock), 'wx');
  } catch {
    return; // Git is writing it, or it cannot be written.
  }
  let isDone = false;
  try {
    const index = openIndex(path);
    const doubtful = index?.entries.filter((entry) => entry.isDoubtful && isWanted(entry.name));
    if (index === undefined || doubtful === undefined || doubtful.length === 0) return;
    const { bytes, stats, idBytes } = index;
    const body = bytes.subarray(0, -idBytes);
    const hash = () =>
      createHash(idBytes === SHA1_BYTES ? 'sha1' : 'sha256')
        .update(body)
        .digest();
    const isHashed = bytes.subarray(-idBytes).some((byte) => byte !== 0); // See index.skipHash of git-config(1).
    if (isHashed && !hash().equals(bytes.subarray(-idBytes))) return;
    for (const { at, size } of doubtful) {
      bytes.writeUInt32BE(SETTLED_S, at + CHANGED_S);
      bytes.writeUInt32BE(0, at + CHANGED_NS);
      bytes.writeUInt32BE(Math.max(1, size), at + SIZE);
    }
    if (isHashed) hash().copy(bytes, bytes.length - idBytes);
    writeFileSync(descriptor, bytes);
    fchmodSync(descriptor, stats.mode & 0o777);
    const own = fstatSync(descriptor);
    if (own.uid !== stats.uid || own.gid !== stats.gid) {
      fchownSync(descriptor, stats.uid, stats.gid);
    }
    futimesSync(descriptor, stats.atimeMs / 1_000, stats.mtimeMs / 1_000);
    renameSync(toBytes(lock), toBytes(path));
    isDone = true;
  } catch {
    // The disk is full, or the folder was replaced. Git then reads the file, which fails without harm.
  } finally {
    closeSync(descriptor);
    if (!isDone) rmSync(toBytes(lock), { force: true });
  }
}

/** A second long ago. No file in use has it. */
const SETTLED_S = 1;

interface PlacedEntry extends IndexEntry {
  /** The entry's first byte. */
  readonly at: number;
}

interface Index {
  readonly bytes: Buffer;
  readonly stats: Stats;
  readonly idBytes: number;
  readonly entries: readonly PlacedEntry[];
}

function openIndex(path: BytePath): Index | undefined {
  const read = readBytes(path, FOLDER_LIMITS.maxIndexBytes);
  if (read === undefined) return undefined;
  const { bytes, stats } = read;
  for (const idBytes of [SHA1_BYTES, SHA256_BYTES]) {
    const entries = parse(bytes, idBytes, Math.floor(stats.mtimeMs / 1_000));
    if (entries !== undefined) return { bytes, stats, idBytes, entries };
  }
  return undefined;
}

/**
 * A regular file that is no link, is not larger, and does not grow meanwhile. Never waits, as for a pipe that a command
 * put there.
 */
function readBytes(
  path: BytePath,
  maxBytes: number,
): { readonly bytes: Buffer; readonly stats: Stats } | undefined {
  let descriptor: number;
  try {
    descriptor = openSync(toBytes(path), constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch {
    return undefined;
  }
  try {
    const stats = fstatSync(descriptor);
    if (!stats.isFile() || stats.size > maxBytes) return undefined;
    const bytes = Buffer.allocUnsafe(stats.size + 1);
    let length = 0;
    for (let count = -1; count !== 0 && length < bytes.length; length += count) {
      count = readSync(descriptor, bytes, length, bytes.length - length, null);
    }
    return length > stats.size ? undefined : { bytes: bytes.subarray(0, length), stats };
  } catch {
    return undefined;
  } finally {
    closeSync(descriptor);
  }
}

/** The text of such a file; empty without one. */
export function readText(path: BytePath, maxBytes: number): BytePath {
  return readBytes(path, maxBytes)?.bytes.toString('latin1') ?? '';
}

/** The folder that a `.git` file of a worktree or a submodule names. */
export function namedFolder(dotGit: BytePath): BytePath | undefined {
  const named = /^gitdir: (.+)$/m.exec(readText(dotGit, FOLDER_LIMITS.maxPathBytes))?.[1];
  return named === undefined ? undefined : posix.resolve(posix.dirname(dotGit), named);
}

const SHA1_BYTES = 20;
const SHA256_BYTES = 32;

/** The places in an entry: see gitformat-index(5). The object's id comes after the size, then flags and the name. */
const CHANGED_S = 8;
const CHANGED_NS = 12;
const MODE = 24;
const SIZE = 36;
const ID = 40;

/** Undefined for anything that does not read as an index with ids of this length. */
function parse(bytes: Buffer, idBytes: number, writtenS: number): PlacedEntry[] | undefined {
  if (bytes.length < HEADER + idBytes || bytes.toString('latin1', 0, 4) !== 'DIRC')
    return undefined;
  const version = bytes.readUInt32BE(4);
  if (version < 2 || version > PREFIXED) return undefined;
  const end = bytes.length - idBytes;
  const entries: PlacedEntry[] = [];
  let name = '';
  let nameBytes = 0;
  let at = HEADER;
  for (let left = bytes.readUInt32BE(8); left > 0; left--) {
    const flagsAt = at + ID + idBytes;
    if (flagsAt + 2 > end) return undefined;
    const flags = bytes.readUInt16BE(flagsAt);
    let nameAt = flagsAt + (flags & EXTENDED ? 4 : 2);
    let kept = '';
    if (version === PREFIXED) {
      let byte = bytes[nameAt++] ?? 0;
      let cut = byte & 0x7f;
      while (byte & 0x80) {
        byte = bytes[nameAt++] ?? 0;
        cut = ((cut + 1) << 7) + (byte & 0x7f);
      }
      kept = name.slice(0, Math.max(0, name.length - cut));
    }
    const nul = bytes.indexOf(0, nameAt);
    if (nul < 0 || nul >= end) return undefined;
    const nameLength = kept.length + nul - nameAt;
    nameBytes += nameLength;
    if (nameLength > FOLDER_LIMITS.maxIndexNameLength) return undefined;
    if (nameBytes > FOLDER_LIMITS.maxIndexNameBytes) return undefined;
    name = kept + bytes.toString('latin1', nameAt, nul);
    if (name.length < LONG_NAME && (flags & LONG_NAME) !== name.length) return undefined;
    const mode = bytes.readUInt32BE(at + MODE);
    const isMerged = (flags & STAGE) === 0;
    if (mode >> 12 === REGULAR && isMerged && !LEADING_OUT.test(name)) {
      const size = bytes.readUInt32BE(at + SIZE);
      const changedS = bytes.readUInt32BE(at + CHANGED_S);
      const isDoubtful = size === 0 || changedS >= writtenS;
      entries.push({ name, size, changedS, isExecutable: (mode & 0o100) !== 0, isDoubtful, at });
    }
    at = version === PREFIXED ? nul + 1 : at + ((nul - at + 8) & ~7);
  }
  return entries;
}

/** Git makes no such names. */
const LEADING_OUT = /(?:^|\/)(?:\.{0,2})(?:\/|$)/;

const HEADER = 12;
/** The version that stores of each name only the difference to the name before. */
const PREFIXED = 4;
const EXTENDED = 0x4000;
const STAGE = 0x3000;
const LONG_NAME = 0xfff;
const REGULAR = 0o10;
