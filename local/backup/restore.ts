/** Makes a state folder from a backup. */
import { randomUUID } from 'node:crypto';
import { constants, existsSync } from 'node:fs';
import {
  access,
  chmod,
  lstat,
  mkdir,
  mkdtemp,
  readdir,
  rename,
  rm,
  rmdir,
  stat,
  symlink,
  writeFile,
} from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { LocalError } from '../../machine/local-error.ts';
import { takeLock } from '../../machine/lock.ts';
import {
  flushFolder,
  makePrivateFolder,
  makePrivateFolders,
  PRIVATE_FILE,
  PRIVATE_FOLDER,
  replaceFile,
  restoreMarkOf,
} from '../../machine/private-files.ts';
import { codeOf, isSystemError } from '../../machine/system-error.ts';
import { type ArchiveEntry, type ArchiveHead, leadsOut, readArchive } from '../archive/archive.ts';
import {
  FORMAT_STEPS,
  formatPath,
  readFormat,
  refuseNewer,
  type StateFormat,
} from '../state/format.ts';
import { newRestored } from '../state/restored.ts';

/**
 * Makes the state folder `dir`, which must not exist or be empty, from a backup. The folder appears whole or not at all.
 * A second restore of one backup must come in a later second (local/state/restored.ts).
 * @throws {LocalError} if the folder is in use or cannot be written, or if the backup is damaged, cut short, or of a
 *   newer format.
 */
export async function restoreBackup(file: string, dir: string, now: Date): Promise<ArchiveHead> {
  await requireEmpty(dir);
  await requireFile(file);
  try {
    return await restoreInto(dir, file, now);
  } catch (cause) {
    if (Object(cause).syscall === undefined) throw cause;
    const message = `${dir} cannot be written (${codeOf(cause)}): make room, or name another folder with --state. Nothing was restored.`;
    throw new LocalError('failed', message, { cause });
  }
}

async function restoreInto(dir: string, file: string, now: Date): Promise<ArchiveHead> {
  makePrivateFolders(dirname(dir));
  const made = join(dirname(dir), `.${basename(dir)}.${randomUUID()}.restoring`);
  await mkdir(made, { mode: PRIVATE_FOLDER });
  try {
    const head = await unpack(file, made);
    await markRestored(made, head, now);
    await putInPlace(made, dir);
    return head;
  } finally {
    await rm(made, { recursive: true, force: true });
  }
}

async function requireEmpty(dir: string): Promise<void> {
  const entries = await readdir(dir).catch((error: unknown) => {
    if (isSystemError(error, 'ENOENT')) return [];
    const message = `${dir} cannot be read as a folder (${codeOf(error)}): name another folder with --state.`;
    throw new LocalError('refused', message, { cause: error });
  });
  if (entries.length === 0) return;
  throw new LocalError(
    'refused',
    `${dir} is not empty: restore into a new folder, or end the Drawbridge that runs on this one and move it away first.`,
  );
}

async function requireFile(file: string): Promise<void> {
  const unreadable = (cause: unknown) => {
    const message = `The backup ${file} cannot be read (${codeOf(cause)}): check its path and its permissions.`;
    throw new LocalError('refused', message, { cause });
  };
  const stats = await stat(file).catch(unreadable);
  await access(file, constants.R_OK).catch(unreadable);
  if (!stats.isFile()) throw new LocalError('refused', `The backup ${file} is not a file.`);
}

async function unpack(file: string, made: string): Promise<ArchiveHead> {
  const links: ArchiveEntry[] = [];
  const folders: ArchiveEntry[] = [];
  const head = await readArchive(file, {
    begin: (head) => refuseNewer(`The backup ${file}`, head, FORMAT_STEPS.length),
    take: async (entry, content) => {
      const path = join(made, entry.path);
      if (entry.type === 'link') links.push(requireInner(file, entry));
      if (entry.type === 'folder') {
        await mkdir(path, { mode: PRIVATE_FOLDER });
        folders.push(entry);
      }
      if (entry.type !== 'file') return;
      // Not a stream: where the content breaks off, one could still be about to make the file when the folder goes.
      await writeFile(path, content, { flag: 'wx', mode: PRIVATE_FILE, flush: true });
      await chmod(path, entry.mode);
    },
  });
  // Last, so that nothing is written through a link, or into a folder that its mode closes.
  for (const { path, target = '' } of links) await symlink(target, join(made, path));
  for (const { path, mode } of folders.reverse()) await chmod(join(made, path), mode);
  return head;
}

/** @throws {LocalError} for a link that leads out of the state. */
function requireInner(file: string, entry: ArchiveEntry): ArchiveEntry {
  if (!leadsOut(entry)) return entry;
  const { path, target = '' } = entry;
  const message = `The backup ${file} has a link that leads out of the state folder: ${path} to ${target}. What lies there is not in it. Nothing was restored: put the files themselves in the place of the link, and make a backup anew.`;
  throw new LocalError('refused', message);
}

/**
 * Puts one file of a backup back into a state that no server runs on, and keeps the one that was there in `backups/`.
 * As after a whole restore, no call of before runs twice in its object; all others go on. @returns where the replaced file is.
 * @throws {LocalError} if the backup has no such file or another format, or the state is in use.
 */
export async function restoreFile(
  file: string,
  dir: string,
  path: string,
  now: Date,
): Promise<{ readonly head: ArchiveHead; readonly kept: string }> {
  await requireFile(file);
  if (!/^storage\/[\w-]+\/[\w-]+\.sqlite$/.test(path)) {
    const message = `${path} is no database of a state: name one as \`drawbridge check --state\` does, such as storage/drawbridge-Conversation/….sqlite.`;
    throw new LocalError('refused', message);
  }
  const lock = takeLock(join(dir, 'lock'));
  if (!lock.isTaken) {
    const message = `Process ${lock.holder} runs on ${dir}: end it (\`drawbridge stop\`), and try again. Nothing was changed.`;
    throw new LocalError('refused', message);
  }
  makePrivateFolder(join(dir, 'backups'));
  const made = await mkdtemp(join(dir, 'backups', 'restoring-'));
  try {
    const present = await readFormat(dir);
    // A log belongs to its database: an older one with a newer log would be damaged.
    const wanted = new Map([path, `${path}-wal`].map((name) => [name, join(made, basename(name))]));
    const head = await readArchive(file, {
      begin: (found) => requireFormat(file, found, present),
      take: async (entry, content) => {
        const to = entry.type === 'file' ? wanted.get(entry.path) : undefined;
        if (to) await writeFile(to, content, { flag: 'wx', mode: PRIVATE_FILE, flush: true });
        else for await (const _ of content); // Its digest is part of the whole.
      },
    });
    if (!existsSync(wanted.get(path) ?? '')) {
      throw new LocalError('refused', `The backup ${file} has no ${path}. Nothing was changed.`);
    }
    const kept = join(dir, 'backups', `${basename(path)}.${now.getTime()}`);
    const object = basename(path, '.sqlite');
    const restoredFiles = { ...present?.restoredFiles, [object]: newRestored(present, now) };
    replaceFile(formatPath(dir), JSON.stringify({ ...present, restoredFiles }));
    for (const end of ['-shm', '-wal', '']) {
      const old = join(dir, `${path}${end}`);
      if (existsSync(old)) await rename(old, `${kept}${end}`);
    }
    for (const [name, from] of [...wanted].reverse()) {
      if (existsSync(from)) await rename(from, join(dir, name));
    }
    flushFolder(dirname(join(dir, path)));
    return { head, kept };
  } finally {
    await rm(made, { recursive: true, force: true });
    lock[Symbol.dispose]();
  }
}

function requireFormat(file: string, { format }: ArchiveHead, present: StateFormat | undefined) {
  if (format === present?.format) return;
  const message = `The backup ${file} has format ${format}, and the state ${present?.format ?? 'none'}: one file of it cannot be put back. Restore the whole backup into a new folder.`;
  throw new LocalError('refused', message);
}

/** Shows the server and each bridge that a future was taken back: see worker/storage/restored.ts. */
async function markRestored(made: string, head: ArchiveHead, now: Date): Promise<void> {
  const { format, writtenBy } = head;
  const restored = newRestored(await readFormat(made), now);
  const state: StateFormat = { format, writtenBy, ...restored };
  replaceFile(formatPath(made), JSON.stringify(state));
  for (const folder of [made, ...(await foldersIn(join(made, 'projects')))]) {
    replaceFile(restoreMarkOf(join(folder, 'journal.jsonl')), now.toISOString());
  }
}

/** None where `folder` is a link, and none that is a link: nothing is written outside the restored folder. */
async function foldersIn(folder: string): Promise<string[]> {
  const stats = await lstat(folder).catch(() => undefined);
  const entries = stats?.isDirectory() ? await readdir(folder, { withFileTypes: true }) : [];
  return entries.filter((entry) => entry.isDirectory()).map(({ name }) => join(folder, name));
}

async function putInPlace(made: string, dir: string): Promise<void> {
  await rmdir(dir).catch((error: unknown) => {
    if (isSystemError(error, 'ENOENT')) return;
    throw new LocalError('refused', `${dir} is in use: restore into a new folder.`, {
      cause: error,
    });
  });
  await rename(made, dir);
  flushFolder(dirname(dir));
}
