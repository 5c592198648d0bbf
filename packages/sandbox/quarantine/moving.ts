/** Moves, copies and removes things that a command made, from one held folder to another. Looks up no name twice. */
import { randomUUID } from 'node:crypto';
import { constants } from 'node:fs';
import {
  type FileHandle,
  link,
  mkdir,
  open,
  readlink,
  rename,
  rmdir,
  symlink,
  unlink,
} from 'node:fs/promises';
import { type BytePath, shownName } from '../../../machine/byte-path.ts';
import { kindOf } from '../../../machine/entry-kind.ts';
import { isSystemError } from '../../../machine/system-error.ts';
import { KIB } from '../../../shared/units.ts';
import { type HeldFolder, QuarantineError } from './held-folder.ts';
import { QUARANTINE_LIMITS } from './limits.ts';

/** A name in a held folder. */
export interface Spot {
  readonly folder: HeldFolder;
  readonly name: BytePath;
}

/**
 * Moves an entry of any kind, also to another disk. On the same disk it is one step. For another disk the entry first
 * gets a name without meaning to any program: it is out of the way even if the copy fails, which throws.
 */
export async function moveAway(from: Spot, to: Spot): Promise<void> {
  try {
    await renameOurs(from, to);
  } catch (error) {
    if (!isSystemError(error, 'EXDEV')) throw error;
    await carryAcross(from, to);
  }
}

/** Like {@link moveAway}, but throws `EEXIST` instead of replacing an entry. */
export async function moveToFree(from: Spot, to: Spot): Promise<void> {
  if (await to.folder.has(to.name)) throw systemError('EEXIST');
  if (kindOf(await from.folder.stat(from.name)) === 'folder') return await moveAway(from, to);
  try {
    // `link` fails where `rename` would replace a file that was put there since the check.
    await link(from.folder.entry(from.name), to.folder.entry(to.name));
    await unlink(from.folder.entry(from.name));
  } catch (error) {
    if (!isSystemError(error, 'EXDEV', 'EPERM')) throw error;
    await moveAway(from, to);
  }
}

/** Removes an entry with everything in it. */
export async function removeTree({ folder, name }: Spot): Promise<void> {
  if (kindOf(await folder.stat(name)) !== 'folder') return await unlink(folder.entry(name));
  {
    await using inner = await folder.openAnyway(name);
    for (const entry of await inner.list()) await removeTree({ folder: inner, name: entry.name });
  }
  await rmdir(folder.entry(name));
}

/** A folder can move only when its owner may write to it, because its `..` changes. */
async function renameOurs(from: Spot, to: Spot): Promise<void> {
  const step = () => rename(from.folder.entry(from.name), to.folder.entry(to.name));
  try {
    await step();
  } catch (error) {
    if (!isSystemError(error, 'EACCES')) throw error;
    await from.folder.makeOurs(from.name);
    await step();
  }
}

async function carryAcross(from: Spot, to: Spot): Promise<void> {
  const aside = { folder: from.folder, name: `drawbridge-set-aside-${randomUUID()}` };
  await renameOurs(from, aside);
  try {
    await copyTree(aside, to, { bytes: 0, entries: 0 });
  } catch (cause) {
    const reason = cause instanceof QuarantineError ? cause.message : 'the copy failed';
    const name = `${shownName(from.folder.path)}/${aside.name}`;
    throw new QuarantineError(`it stayed, and its path is now ${name}: ${reason}`, { cause });
  }
  await removeTree(aside);
}

interface Copied {
  bytes: number;
  entries: number;
}

async function copyTree(from: Spot, to: Spot, copied: Copied): Promise<void> {
  const stats = await from.folder.stat(from.name);
  if (++copied.entries > QUARANTINE_LIMITS.maxEntries) throw tooLarge();
  switch (kindOf(stats)) {
    case 'folder':
      return await copyFolder(from, to, copied);
    case 'file':
      return await copyFile(from, to, copied);
    case 'link': {
      const target = await readlink(from.folder.entry(from.name), { encoding: 'buffer' });
      return await symlink(target, to.folder.entry(to.name));
    }
    case 'other':
      return; // A pipe or a socket holds no content.
  }
}

async function copyFolder(from: Spot, to: Spot, copied: Copied): Promise<void> {
  await mkdir(to.folder.entry(to.name), PRIVATE_FOLDER);
  await using source = await from.folder.openAnyway(from.name);
  await using target = await to.folder.openAnyway(to.name);
  for (const { name } of await source.list()) {
    await copyTree({ folder: source, name }, { folder: target, name }, copied);
  }
}

async function copyFile(from: Spot, to: Spot, copied: Copied): Promise<void> {
  const { O_RDONLY, O_WRONLY, O_CREAT, O_EXCL, O_NOFOLLOW, O_NONBLOCK } = constants;
  await using source = await open(from.folder.entry(from.name), O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  const stats = await source.stat();
  await using target = await open(
    to.folder.entry(to.name),
    O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW,
    // Masks off setuid: before the change of owner the file would be a program that runs as root.
    stats.mode & RIGHTS,
  );
  const piece = Buffer.alloc(PIECE_BYTES);
  for (;;) {
    const { bytesRead } = await source.read(piece, 0, piece.length, null);
    if (bytesRead === 0) break;
    copied.bytes += bytesRead;
    if (copied.bytes > QUARANTINE_LIMITS.maxCopyBytes) throw tooLarge();
    await target.writeFile(piece.subarray(0, bytesRead));
  }
  await giveTo(target, stats);
  await target.sync();
}

/** Keeps the owner where we may: only root can give files to another user. */
async function giveTo(file: FileHandle, { uid, gid }: { uid: number; gid: number }): Promise<void> {
  if (process.getuid?.() === 0) await file.chown(uid, gid);
}

/** Puts a new file into a held folder, and gives it the folder's owner. */
export async function putFile({ folder, name }: Spot, text: string): Promise<void> {
  const { O_WRONLY, O_CREAT, O_EXCL, O_NOFOLLOW } = constants;
  await using file = await open(
    folder.entry(name),
    O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW,
    USUAL_FILE,
  );
  await file.writeFile(text);
  const { uid, gid } = await folder.stat('.');
  await giveTo(file, { uid: Number(uid), gid: Number(gid) });
  await file.sync();
}

function tooLarge(): QuarantineError {
  return new QuarantineError('it is too large to be copied to the disk of the state folder');
}

function systemError(code: string): Error {
  return Object.assign(new Error(code), { code });
}

const PRIVATE_FOLDER = 0o700;
const RIGHTS = 0o777;
const USUAL_FILE = 0o644;
const PIECE_BYTES = 64 * KIB;
