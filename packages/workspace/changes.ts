/** Replaces, deletes and renames files at places that the workspace let through, if the files are still the same. */
import { randomUUID } from 'node:crypto';
import { constants, type Stats } from 'node:fs';
import {
  type FileHandle,
  lchown,
  link,
  lstat,
  open,
  readdir,
  readlink,
  rename,
  rm,
  rmdir,
  symlink,
  unlink,
} from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { ToolFailure } from '../../machine/failure.ts';
import { sha256 } from '../../machine/hash.ts';
import { isSystemError } from '../../machine/system-error.ts';
import { nameInLine } from '../../shared/text/plain-sight.ts';
import { type Anchor, anchorFolder, giveToOwnerOf } from './anchor.ts';
import { assertRegular, type FileContent, inFolderOf, readEntry } from './files.ts';
import { completeRepository, inTurnFor } from './repository-marks.ts';
import { closedTo, type ResolvedPath } from './workspace.ts';

/** A regular file as a change finds or leaves it. `bytes` is null where the content was not read. */
export interface KeptFile {
  readonly bytes: Uint8Array | null;
  readonly mode: number;
}

/** One path of a change, absolute and real. */
export interface KeptChange {
  readonly path: string;
  readonly before: KeptFile | null;
  readonly after: KeptFile | null;
}

/**
 * Keeps what a change replaces, right before it is made. Returns what to call once it is made or has failed. Neither
 * throws.
 */
export type KeepChange = (changes: readonly KeptChange[]) => (isMade: boolean) => void;

interface ChangeOptions {
  /** The hash of the content that the change is based on. */
  readonly expected: string | null;
  readonly keep?: KeepChange | undefined;
  readonly signal: AbortSignal;
}

/**
 * Replaces the content of a file, or makes the file with its folders where `expected` is null. A reader sees the old
 * content or the new one, never a part. Mode and owner stay. `expected` is the hash of the content that the new one is
 * based on. Any other content fails with `STALE`, and nothing is changed. `mode` has the permission bits that it gets.
 */
export async function replaceFileAt(
  place: ResolvedPath<'write'>,
  bytes: Uint8Array,
  { expected, mode, keep, signal }: ChangeOptions & { readonly mode?: number | undefined },
): Promise<FileContent> {
  return await makingAt(place, { create: expected === null }, async (folder) => {
    const target = folder.entry(basename(place.path));
    const temporary = folder.entry(`.drawbridge-${randomUUID()}.tmp`);
    try {
      const old = await lstatIfAny(target);
      if (old !== null) assertMayReplace(old, place);
      const given = await writeTemporary(temporary, bytes, old, { place, mode });
      const there = await assertExpected(folder, place, expected, signal);
      signal.throwIfAborted();
      const before = old && { bytes: there?.bytes ?? null, mode: permissionsOf(old) };
      const after = { bytes, mode: given };
      await kept(keep, [{ path: place.path, before, after }], async () => {
        await rename(temporary, target);
        if (old === null) await assertNoRepository(place, () => unlink(target));
      });
    } finally {
      await rm(temporary, { force: true });
    }
    await folder.sync();
    return { bytes, hash: sha256(bytes) };
  });
}

/** Deletes one regular file. `expected` is its hash where the caller relies on the content, else null. */
export async function deleteFileAt(
  place: ResolvedPath<'write'>,
  { expected, keep, signal }: ChangeOptions,
): Promise<void> {
  await inFolderOf(place, {}, async (folder) => {
    const target = folder.entry(basename(place.path));
    const old = await lstat(target);
    assertRegular(old, place);
    const there = expected === null ? null : await assertExpected(folder, place, expected, signal);
    signal.throwIfAborted();
    const before = { bytes: there?.bytes ?? null, mode: permissionsOf(old) };
    await kept(keep, [{ path: place.path, before, after: null }], () => unlink(target));
    await folder.sync();
  });
}

/** A file, or a symbolic link with its target as content (its mode says nothing). */
export interface DiskEntry {
  readonly content: Uint8Array;
  readonly mode: number;
  readonly isLink: boolean;
}

/** What is at a place, without following a link there. Null for nothing. */
export async function readEntryAt(
  place: ResolvedPath,
  signal: AbortSignal,
): Promise<DiskEntry | null> {
  try {
    return await inFolderOf(place, {}, (folder) => readFound(folder, place, signal));
  } catch (error) {
    if (error instanceof ToolFailure && error.code === 'FILE_NOT_FOUND') return null;
    throw error;
  }
}

async function readFound(
  folder: Anchor,
  place: ResolvedPath,
  signal: AbortSignal,
): Promise<DiskEntry | null> {
  const path = folder.entry(basename(place.path));
  const stats = await lstatIfAny(path);
  if (stats === null) return null;
  const mode = permissionsOf(stats);
  if (stats.isSymbolicLink())
    return { content: await readlink(path, { encoding: 'buffer' }), mode, isLink: true };
  return { content: (await readEntry(folder, place, signal)).bytes, mode, isLink: false };
}

/**
 * Puts a file or a link at a place, or with null takes away what is there, for an undo. Unlike {@link replaceFileAt} it
 * also replaces a link, one of several hard links, and a file marked read-only. `keep` gets what is there right before
 * the change, and throws a {@link ToolFailure} where that must stay; it returns what to call once the change is made or
 * has failed.
 */
export async function restoreAt(
  place: ResolvedPath<'write'>,
  next: DiskEntry | null,
  {
    keep,
    signal,
  }: {
    readonly keep: (found: DiskEntry | null) => (isMade: boolean) => void;
    readonly signal: AbortSignal;
  },
): Promise<void> {
  const inFolder = next ? makingAt : inFolderOf;
  await inFolder(place, { create: next !== null }, async (folder) => {
    const target = folder.entry(basename(place.path));
    const temporary = folder.entry(`.drawbridge-${randomUUID()}.tmp`);
    try {
      const old = await lstatIfAny(target);
      if (next && old?.isDirectory()) await deleteEmptyFolder(place.path);
      if (next?.isLink) await linkTemporary(temporary, next.content, place);
      else if (next) {
        const { content, mode } = next;
        await writeTemporary(temporary, content, old?.isFile() ? old : null, { place, mode });
      }
      const found = await readFound(folder, place, signal);
      signal.throwIfAborted();
      const settle = keep(found);
      const isNew = old === null || old.isDirectory();
      const make = async () => {
        await (next ? rename(temporary, target) : unlink(target));
        if (next && isNew) await assertNoRepository(place, () => unlink(target));
      };
      await kept(() => settle, [], make);
    } finally {
      await rm(temporary, { force: true });
    }
    await folder.sync();
  });
}

/** Deletes a folder with nothing but such folders in it. Another one stays as it is, and so may some of these. */
async function deleteEmptyFolder(path: string): Promise<void> {
  await using parent = await anchorFolder(dirname(path));
  await using folder = await anchorFolder(path);
  for (const name of await readdir(folder.entry('.'))) {
    if ((await lstat(folder.entry(name))).isDirectory()) await deleteEmptyFolder(join(path, name));
  }
  await rmdir(parent.entry(basename(path))).catch(() => undefined); // The change itself finds out.
}

/** Like a file that a bridge makes as root, a link belongs to the owner of the folder around it. */
async function linkTemporary(path: string, target: Uint8Array, place: ResolvedPath): Promise<void> {
  await symlink(Buffer.from(target), path);
  if (process.getuid?.() !== 0) return;
  const { uid, gid } = await lstat(dirname(place.path));
  await lchown(path, uid, gid);
}

/** Deletes the folders around a deleted file that are empty now, up to `top`, which stays. A folder in use stays, too. */
export async function deleteEmptyFolders(
  { path }: ResolvedPath<'write'>,
  top: string,
): Promise<void> {
  try {
    for (let folder = dirname(path); folder.startsWith(`${top}/`); folder = dirname(folder)) {
      await using parent = await anchorFolder(dirname(folder));
      await rmdir(parent.entry(basename(folder)));
    }
  } catch {
    // It has other entries, or the system does not let it go.
  }
}

/**
 * Renames one regular file and returns its new path. Makes the new folder where it is missing. `expected` as in {@link
 * deleteFileAt}. Never overwrites an existing file (`FILE_EXISTS`).
 */
export async function moveFileAt(
  from: ResolvedPath<'write'>,
  to: ResolvedPath<'write'>,
  { expected, keep, signal }: ChangeOptions,
): Promise<string> {
  return await inFolderOf(from, {}, async (source) => {
    const old = source.entry(basename(from.path));
    const stats = await lstat(old);
    assertRegular(stats, from);
    return await makingAt(to, { create: true }, async (target) => {
      // On a file system that ignores case, `to` leads to the file itself, under its old name.
      const name = basename(to.path === from.path ? to.name : to.path);
      const there =
        expected === null
          ? await readIfSmall(source, from, signal)
          : await assertExpected(source, from, expected, signal);
      signal.throwIfAborted();
      const moved = { bytes: there?.bytes ?? null, mode: permissionsOf(stats) };
      const path = join(dirname(to.path), name);
      const changes = [
        { path: from.path, before: moved, after: null },
        { path, before: null, after: moved },
      ];
      const isOtherCase = await isOnlyOtherCase(target, from, to, name);
      await kept(isOtherCase ? undefined : keep, changes, async () => {
        if (isOtherCase) await rename(old, target.entry(name));
        else await moveOver(old, target.entry(name), to);
        await assertNoRepository(to, () => moveOver(target.entry(name), old, from));
      });
      await target.sync();
      await source.sync();
      return path;
    });
  });
}

/**
 * Makes an entry in the folder of a place, while no other call makes a part of the same look-alike of a repository.
 * Refuses what would complete one, before anything is made.
 */
async function makingAt<Result>(
  place: ResolvedPath<'write'>,
  options: { create?: boolean },
  work: (folder: Anchor) => Promise<Result>,
): Promise<Result> {
  const { marks } = place;
  const [top] = marks;
  if (top === undefined) return await inFolderOf(place, options, work);
  return await inTurnFor(marks, async () => {
    await assertNoRepository(place);
    try {
      return await inFolderOf(place, options, work);
    } catch (error) {
      // An empty `objects` is a part of a repository, too.
      if (options.create) await deleteEmptyFolders(place, top.folder);
      throw error;
    }
  });
}

/** Another program can have made the other parts meanwhile. Then `takeBack` takes this one away again. */
async function assertNoRepository(
  place: ResolvedPath<'write'>,
  takeBack?: () => Promise<void>,
): Promise<void> {
  if (!(await completeRepository(place.marks))) return;
  await takeBack?.();
  throw closedTo(place.name, 'protected');
}

async function kept(
  keep: KeepChange | undefined,
  changes: readonly KeptChange[],
  make: () => Promise<void>,
): Promise<void> {
  const settle = keep?.(changes);
  try {
    await make();
  } catch (error) {
    settle?.(false);
    throw error;
  }
  settle?.(true);
}

/** Null for a file that is too large or may not be read: it can be renamed all the same. */
async function readIfSmall(
  folder: Anchor,
  place: ResolvedPath,
  signal: AbortSignal,
): Promise<FileContent | null> {
  try {
    return await readEntry(folder, place, signal);
  } catch (error) {
    if (error instanceof ToolFailure || isSystemError(error, 'EACCES', 'EPERM')) return null;
    throw error;
  }
}

/** Whether the new name leads to the file itself and is no entry of its own: on file systems that ignore case. */
async function isOnlyOtherCase(
  folder: Anchor,
  from: ResolvedPath,
  to: ResolvedPath,
  name: string,
): Promise<boolean> {
  if (dirname(from.path) !== dirname(to.path)) return false;
  if (name.toLowerCase() !== basename(from.path).toLowerCase()) return false;
  const there = await lstatIfAny(folder.entry(name));
  return there !== null && !(await readdir(folder.entry('.'))).includes(name);
}

/** Links the new name first, which fails where it exists. A rename would overwrite. */
async function moveOver(old: string, target: string, to: ResolvedPath): Promise<void> {
  try {
    await link(old, target);
  } catch (error) {
    if (isSystemError(error, 'EEXIST')) throw exists(to);
    if (isSystemError(error, 'EXDEV')) throw elsewhere(to);
    if (!isSystemError(error, ...NO_HARD_LINKS)) throw error;
    if ((await lstatIfAny(target)) !== null) throw exists(to);
    // Another program could make this file between these two lines. This file system has no safer way.
    return await rename(old, target);
  }
  await unlink(old);
}

const NO_HARD_LINKS = ['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK'];

function exists({ name }: ResolvedPath): ToolFailure {
  return new ToolFailure(
    'FILE_EXISTS',
    `${nameInLine(name)} exists, and nothing is overwritten: choose another name, with the file's own name at its end.`,
  );
}

function elsewhere({ name }: ResolvedPath): ToolFailure {
  return new ToolFailure(
    'NOT_PERMITTED',
    `${nameInLine(name)} is on another file system: write the file there, and delete the old one.`,
  );
}

/** Throws the failure that {@link replaceFileAt} would throw for the kind of file, before a person is asked. */
export async function assertReplaceable(place: ResolvedPath<'write'>): Promise<void> {
  const stats = await lstatIfAny(place.path);
  if (stats !== null) assertMayReplace(stats, place);
}

async function lstatIfAny(path: string): Promise<Stats | null> {
  try {
    return await lstat(path);
  } catch (error) {
    if (isSystemError(error, 'ENOENT')) return null;
    throw error;
  }
}

function assertMayReplace(stats: Stats, place: ResolvedPath): void {
  assertRegular(stats, place);
  if (stats.nlink > 1) {
    throw new ToolFailure(
      'HARD_LINK',
      `${nameInLine(place.name)} is a hard link: the same file has ${stats.nlink} names, perhaps outside the workspace. ` +
        'Ask the person to change it, or to copy it first.',
    );
  }
  if ((stats.mode & constants.S_IWUSR) === 0) {
    throw new ToolFailure(
      'NOT_PERMITTED',
      `${nameInLine(place.name)} is marked read-only: ask the person whether that may be changed.`,
    );
  }
}

async function writeTemporary(
  path: string,
  bytes: Uint8Array,
  old: Stats | null,
  { place, mode }: { readonly place: ResolvedPath; readonly mode: number | undefined },
): Promise<number> {
  const { O_WRONLY, O_CREAT, O_EXCL, O_NOFOLLOW } = constants;
  const first = old === null && mode === undefined ? NEW_FILE_MODE : PRIVATE_MODE;
  await using file = await open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, first);
  await file.writeFile(bytes);
  if (old === null) await giveToOwnerOf(dirname(path), file);
  else await takeOver(file, old, place);
  if (mode !== undefined) await file.chmod(mode & PERMISSIONS);
  await file.sync();
  return permissionsOf(await file.stat());
}

function permissionsOf({ mode }: Stats): number {
  return mode & PERMISSIONS;
}

/** Without the bits that let a program run as the file's owner. */
const PERMISSIONS = 0o777;

/** The process's umask removes bits from it. */
const NEW_FILE_MODE = 0o666;
/** Other users must not read the new content before it has the old file's mode. */
const PRIVATE_MODE = 0o600;
const MODE_BITS = 0o7777;

/** Sets the owner first, because a change of owner removes mode bits. */
async function takeOver(file: FileHandle, old: Stats, place: ResolvedPath): Promise<void> {
  const stats = await file.stat();
  if (stats.uid !== old.uid || stats.gid !== old.gid) {
    await file.chown(old.uid, old.gid).catch((cause: unknown) => {
      throw new ToolFailure(
        'NOT_PERMITTED',
        `${nameInLine(place.name)} belongs to another user or group, which a new version of it could not: ask the person to change it.`,
        { cause },
      );
    });
  }
  await file.chmod(old.mode & MODE_BITS);
}

/** Called right before the change. Only a few microseconds are left between the two. */
async function assertExpected(
  folder: Anchor,
  place: ResolvedPath,
  expected: string | null,
  signal: AbortSignal,
): Promise<FileContent | null> {
  const there = await readEntry(folder, place, signal).catch((error: unknown) => {
    if (isSystemError(error, 'ENOENT')) return null;
    throw error;
  });
  if ((there?.hash ?? null) !== expected) throw staleFailure(place);
  return there;
}

/** The file has other content than the change is based on. */
export function staleFailure(place: ResolvedPath): ToolFailure {
  return new ToolFailure(
    'STALE',
    `${nameInLine(place.name)} was changed by somebody else since it was last looked at, so nothing was done: read it again, then repeat the call.`,
  );
}
