/** Reads files and folders at places that the workspace let through. Only regular files, and never through a link. */
import { constants, type Stats } from 'node:fs';
import { type FileHandle, lstat, open, readdir } from 'node:fs/promises';
import { basename, dirname } from 'node:path';
import { type EntryKind, kindOf } from '../../machine/entry-kind.ts';
import { ToolFailure, toFileFailure } from '../../machine/failure.ts';
import { sha256 } from '../../machine/hash.ts';
import { TOOL_LIMITS } from '../../shared/limits.ts';
import { nameInLine } from '../../shared/text/plain-sight.ts';
import { type Anchor, anchorFolder } from './anchor.ts';
import { stampText } from './tree/stamp.ts';
import type { ResolvedPath } from './workspace.ts';

/** A file's content at one moment. */
export interface FileContent {
  readonly bytes: Uint8Array;
  /** SHA-256 of the bytes, in hexadecimal. */
  readonly hash: string;
}

/** The whole file. Failures: not found, not a regular file, too large. */
export async function readContent(place: ResolvedPath, signal: AbortSignal): Promise<FileContent> {
  return await inFolderOf(place, {}, (folder) => readEntry(folder, place, signal));
}

/** The same, or null where the file or its folder does not exist. */
export async function readContentIfAny(
  place: ResolvedPath,
  signal: AbortSignal,
): Promise<FileContent | null> {
  try {
    return await readContent(place, signal);
  } catch (error) {
    if (error instanceof ToolFailure && error.code === 'FILE_NOT_FOUND') return null;
    throw error;
  }
}

/** An entry of a folder. */
export interface FolderEntry {
  readonly name: string;
  readonly kind: EntryKind;
}

/** The entries of a folder, sorted by name. */
export async function readEntries(place: ResolvedPath): Promise<FolderEntry[]> {
  try {
    if (!(await lstat(place.path)).isDirectory()) {
      throw new ToolFailure(
        'NOT_A_FOLDER',
        `${nameInLine(place.name)} is not a folder: read a file with read_file.`,
      );
    }
    await using folder = await anchorFolder(place.path);
    const entries = await readdir(folder.entry('.'), { withFileTypes: true });
    return entries
      .map((entry) => ({ name: entry.name, kind: kindOf(entry) }))
      .sort((a, b) => (a.name < b.name ? -1 : 1));
  } catch (error) {
    throw toFileFailure(error, place.name);
  }
}

/** Works in the folder of a place, held open. Errors of the system become a ToolFailure. */
export async function inFolderOf<Result>(
  place: ResolvedPath,
  options: { create?: boolean },
  work: (folder: Anchor) => Promise<Result>,
): Promise<Result> {
  try {
    await using folder = await anchorFolder(dirname(place.path), options);
    return await work(folder);
  } catch (error) {
    throw toFileFailure(error, place.name);
  }
}

/** Some bytes of a file of any size; fewer at its end. */
export async function readPart(
  place: ResolvedPath,
  { offset, length }: { offset: number; length: number },
): Promise<Uint8Array> {
  return await inFolderOf(place, {}, async (folder) => {
    await using file = await openEntry(folder, place);
    assertRegular(await file.stat(), place);
    const { buffer, bytesRead } = await file.read(Buffer.alloc(length), 0, length, offset);
    return buffer.subarray(0, bytesRead);
  });
}

/** The state of an entry of any kind. Equal stamps mean that the entry has not changed. */
export async function readStamp(place: ResolvedPath): Promise<string> {
  return await inFolderOf(place, {}, async (folder) => {
    return stampText(await lstat(folder.entry(basename(place.path))));
  });
}

/** Reads the file in its held folder. */
export async function readEntry(
  folder: Anchor,
  place: ResolvedPath,
  signal: AbortSignal,
): Promise<FileContent> {
  await using file = await openEntry(folder, place);
  const stats = await file.stat();
  assertRegular(stats, place);
  if (stats.size > TOOL_LIMITS.maxFileBytes) {
    throw new ToolFailure(
      'FILE_TOO_LARGE',
      `${nameInLine(place.name)} has ${stats.size} bytes, more than the ${TOOL_LIMITS.maxFileBytes} that are read: search it with grep.`,
    );
  }
  const bytes = await file.readFile({ signal });
  return { bytes, hash: sha256(bytes) };
}

/** `O_NONBLOCK`, because a FIFO would otherwise block the call until a program writes to it. */
async function openEntry(folder: Anchor, place: ResolvedPath): Promise<FileHandle> {
  const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = constants;
  return await open(folder.entry(basename(place.path)), O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
}

/** Throws for anything but a regular file, and says what it is. */
export function assertRegular(stats: Stats, place: ResolvedPath): void {
  if (stats.isFile()) return;
  const kind = stats.isDirectory()
    ? 'a folder: look into it with list_dir'
    : stats.isSymbolicLink()
      ? 'a symbolic link that leads nowhere: use the path of a real file'
      : 'a pipe, socket or device: only regular files can be used';
  throw new ToolFailure('NOT_A_FILE', `${nameInLine(place.name)} is ${kind}.`);
}
