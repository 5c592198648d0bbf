/** Makes a backup of a state folder, while its server runs or not. */
import { type BigIntStats, constants } from 'node:fs';
import {
  copyFile,
  lstat,
  mkdir,
  mkdtemp,
  open,
  readdir,
  readlink,
  realpath,
  rm,
  symlink,
} from 'node:fs/promises';
import { join } from 'node:path';
import { LocalError } from '../../machine/local-error.ts';
import { holderOf, takeLock } from '../../machine/lock.ts';
import { makePrivateFolder, PRIVATE_FOLDER } from '../../machine/private-files.ts';
import { codeOf, isSystemError } from '../../machine/system-error.ts';
import { type ArchiveEntry, entriesIn, leadsOut, writeArchive } from '../archive/archive.ts';
import type { OwnedFile, StorageCheck } from '../check/check-storage.ts';
import { LOCAL_LIMITS } from '../limits.ts';
import { OWN_VERSION } from '../own-root.ts';
import { openFormat } from '../state/upgrade.ts';
import { childrenOf, stopProcesses } from './pause.ts';

/** What a backup took. */
export interface BackupReport {
  readonly files: number;
  readonly bytes: number;
  /** How long the server stood still; 0 if none runs. */
  readonly pausedMs: number;
  /** Paths in the state that no backup can take: closed in the quarantine, or not UTF-8. */
  readonly lost: readonly string[];
  /** Links that lead out of the state, with their targets. What lies there is not in the backup, and no restore takes them. */
  readonly linksOut: readonly ArchiveEntry[];
  /** What {@link checkStorage} finds in the copy; null where it could not run. */
  readonly check: StorageCheck | null;
}

/**
 * Writes a backup of the state to a new file: all conversations and journals as they were at one moment, as after a
 * crash. Keys are in it; only the owner can read it. `stop` is a parameter because tests change files at that moment.
 * Damaged databases are in the backup, too: the copy is checked when the server runs again.
 * @throws {LocalError} if a disk is full, or a folder may not be written. The state stays as it is.
 */
export async function backUp(
  dir: string,
  file: string,
  stop = stopProcesses,
): Promise<BackupReport> {
  const { format } = await openFormat(dir);
  return await withCopy(dir, stop, async (copy, report) => {
    const head = { archive: 1, format, writtenBy: OWN_VERSION, createdMs: Date.now() } as const;
    await writeArchive(file, copy, head).catch((cause) => refuse(unwritten(file), cause));
    return { ...report, check: await checkCopy(copy, report.linksOut).catch(() => null) };
  });
}

/** Checks the databases of a state, whose server may run. Changes nothing in it. @throws {LocalError} as {@link backUp} */
export async function checkState(
  dir: string,
  accounts: readonly string[] = [],
): Promise<StorageCheck & Pick<BackupReport, 'linksOut'>> {
  return await withCopy(dir, stopProcesses, async (copy, { linksOut }) => {
    return { ...(await checkCopy(copy, linksOut, accounts)), linksOut };
  });
}

/**
 * Removes the files of an account from a state that no server runs on: also of one whose own database is damaged, which
 * the server cannot delete. `confirm` gets them first, and throws to keep them.
 * @throws {LocalError} if the state is in use, or has nothing of the account.
 */
export async function eraseAccount(
  dir: string,
  account: string,
  confirm: (files: readonly OwnedFile[]) => Promise<void>,
): Promise<void> {
  const { owned } = await checkState(dir, [account]);
  const files = owned.filter((file) => file.account === account);
  if (files.length === 0) {
    throw new LocalError('refused', `There is nothing of the account ${account} in ${dir}.`);
  }
  await confirm(files);
  const lock = takeLock(join(dir, 'lock'));
  if (!lock.isTaken) {
    const message = `Process ${lock.holder} runs on ${dir}: end it (\`drawbridge stop\`), and try again. Nothing was removed.`;
    throw new LocalError('refused', message);
  }
  try {
    // Its own last: a second attempt still finds by it what is left.
    const isOwn = ({ kind }: OwnedFile) => Number(kind === 'account');
    for (const { path } of files.toSorted((one, other) => isOwn(one) - isOwn(other))) {
      for (const end of ['-shm', '-wal', '']) await rm(join(dir, `${path}${end}`), { force: true });
    }
  } finally {
    lock[Symbol.dispose]();
  }
}

/** Last of all: the check changes the files of the copy. */
async function checkCopy(
  copy: string,
  linksOut: readonly ArchiveEntry[],
  accounts: readonly string[] = [],
): Promise<StorageCheck> {
  // Nothing of what lies behind them is a copy.
  for (const { path } of linksOut) await rm(join(copy, path));
  const { checkStorage } = await import('../check/check-storage.ts');
  return await checkStorage(join(copy, 'storage'), new AbortController().signal, accounts);
}

async function withCopy<Result>(
  dir: string,
  stop: typeof stopProcesses,
  work: (copy: string, report: Omit<BackupReport, 'check'>) => Promise<Result>,
): Promise<Result> {
  const folder = join(dir, 'backups');
  using _ = await lockBackups(dir, folder).catch((cause) => refuse(uncopied(dir), cause));
  const copy = await newCopy(folder).catch((cause) => refuse(uncopied(dir), cause));
  try {
    const report = await copyAtOnce(dir, copy, stop).catch((cause) => refuse(uncopied(dir), cause));
    const linksOut: ArchiveEntry[] = [];
    for await (const entry of entriesIn(copy)) {
      if (leadsOut(entry)) linksOut.push(entry);
    }
    return await work(copy, { ...report, linksOut });
  } finally {
    await rm(copy, { recursive: true, force: true });
  }
}

const uncopied = (dir: string) => ({
  what: `${dir} cannot be copied for the backup`,
  todo: 'make room on its disk, or make it readable and writable for you',
});
const unwritten = (file: string) => ({
  what: `${file} cannot be written`,
  todo: 'make room, or name another file',
});

/** @throws {LocalError} for what the system has refused. Bugs pass. */
function refuse({ what, todo }: { what: string; todo: string }, cause: unknown): never {
  if (Object(cause).syscall === undefined) throw cause;
  const message = `${what} (${codeOf(cause)}): ${todo}. No backup was made, and the state is as it was.`;
  throw new LocalError('failed', message, { cause });
}

/** One backup at a time: the end of one lets the server go on, while another one still copies. */
async function lockBackups(dir: string, folder: string): Promise<Disposable> {
  makePrivateFolder(folder);
  const lock = takeLock(join(folder, 'lock'));
  if (lock.isTaken) return lock;
  const message = `Process ${lock.holder} makes a backup of ${dir} now: try again when it is done.`;
  throw new LocalError('refused', message);
}

/** An empty folder in the state's own file system, where a copy of unchanged blocks can cost nothing. */
async function newCopy(folder: string): Promise<string> {
  await removeKilled(folder);
  return await mkdtemp(join(folder, COPY));
}

const COPY = 'copy-';

/** Removes the copies of backups that were killed: those that did not change for long. */
async function removeKilled(folder: string): Promise<void> {
  for (const name of await readdir(folder)) {
    if (!name.startsWith(COPY)) continue;
    const path = join(folder, name);
    const stats = await lstat(path).catch(() => undefined);
    if (stats && Date.now() - stats.mtimeMs > LOCAL_LIMITS.staleCopyMs)
      await rm(path, { recursive: true, force: true }).catch(() => {}); // One of root's is root's.
  }
}

/**
 * Copies everything while the server runs, then once more, with the server paused, what has changed meanwhile: the
 * pause is short whatever the state's size. What starts to write in between is paused, too, in another attempt.
 */
async function copyAtOnce(
  stateDir: string,
  copy: string,
  stop: typeof stopProcesses,
): Promise<Omit<BackupReport, 'check' | 'linksOut'>> {
  const dir = await realpath(stateDir); // See copyPlain.
  const lock = takeLock(join(dir, 'lock')); // Without a server, none shall start now.
  try {
    const beganMs = Date.now();
    let seen = await copyChanged(dir, copy, new Map(), beganMs);
    let pausedMs = 0;
    for (let attempt = 0; attempt < LOCAL_LIMITS.maxPauses; attempt++) {
      const lost: string[] = [];
      const onLost = (path: string) => void lost.push(path);
      const again = () => copyChanged(dir, copy, seen, beganMs, onLost);
      const paused = await whilePaused(dir, stop, again);
      seen = paused.all;
      pausedMs += paused.pausedMs;
      if (paused.isWhole) return { ...sizeOf(seen), pausedMs, lost };
    }
    const message = `Something keeps starting on ${dir}: try again when it has started. No backup was made.`;
    throw new LocalError('failed', message);
  } finally {
    if (lock.isTaken) lock[Symbol.dispose]();
  }
}

type Seen = ReadonlyMap<string, BigIntStats>;

function sizeOf(seen: Seen): Pick<BackupReport, 'files' | 'bytes'> {
  const sizes = [...seen.values()].map(({ size }) => Number(size));
  return { files: sizes.length, bytes: sizes.reduce((sum, size) => sum + size, 0) };
}

async function whilePaused(
  dir: string,
  stop: typeof stopProcesses,
  work: () => Promise<Seen>,
): Promise<{ all: Seen; isWhole: boolean; pausedMs: number }> {
  const startedAt = performance.now();
  const writers = await writersOf(dir);
  using _stopped = await stop(writers);
  const all = await work();
  // A server that was only starting may run a Worker now.
  const isWhole = (await writersOf(dir)).every((pid) => writers.includes(pid));
  const pausedMs = writers.length === 0 ? 0 : Math.ceil(performance.now() - startedAt);
  return { all, isWhole, pausedMs };
}

/** The server's runtime and bridges, which are children of the process with the lock, and bridges that run alone. */
async function writersOf(dir: string): Promise<number[]> {
  const server = holderOf(join(dir, 'lock'));
  const pids = new Set(server === undefined || server === process.pid ? [] : childrenOf(server));
  for (const folder of [dir, ...(await projectsIn(dir))]) {
    const bridge = holderOf(join(folder, 'journal.jsonl.lock'));
    if (bridge !== undefined) pids.add(bridge);
  }
  pids.delete(process.pid);
  return [...pids];
}

async function projectsIn(dir: string): Promise<string[]> {
  const folder = join(dir, 'projects');
  const names = await readdir(folder).catch(() => []);
  return names.map((name) => join(folder, name));
}

/**
 * Brings `copy` up to date. `seen` are the files of the copy as they were before it was made. Clocks of file systems
 * have steps: a file that was written just before `beganMs` may have changed since without another time.
 */
async function copyChanged(
  dir: string,
  copy: string,
  seen: Seen,
  beganMs: number,
  onLost?: (path: string) => void,
): Promise<Seen> {
  const now = new Map<string, BigIntStats>();
  const there = new Map<string, ArchiveEntry['type']>();
  for await (const { path, type } of entriesIn(dir, '', onLost)) {
    there.set(path, type);
    const [from, to] = [join(dir, path), join(copy, path)];
    try {
      if (type === 'folder') {
        await makeFolder(to);
        continue;
      }
      const stats = await lstat(from, { bigint: true });
      now.set(path, stats);
      if (isUnchanged(stats, seen.get(path), beganMs)) continue;
      // What was a link may be a file now: to write to it would follow the link out of the copy.
      await rm(to, { recursive: true, force: true });
      if (type === 'link') await symlink(await readlink(from), to);
      else if (!(await copyPlain(from, to))) now.delete(path);
    } catch (error) {
      // It was removed, or replaced by another kind of entry, while this went through the folder.
      if (!isSystemError(error, ...REPLACED)) throw error;
      now.delete(path);
    }
  }
  for (const path of seen.keys()) await removeGone(copy, path, there);
  return now;
}

/** What the system says of a path where something else is now: a link has no file's content, a file has no entries. */
const REPLACED = ['ENOENT', 'EINVAL', 'ELOOP', 'ENOTDIR', 'EISDIR'];

/**
 * Copies a file, to which no link on the way may lead: what a command has left in the quarantine can change at any
 * moment, and a file of the person must not get there. False where the path leads to something else now. Only Linux
 * says which file was opened; elsewhere just the last name is safe.
 */
async function copyPlain(from: string, to: string): Promise<boolean> {
  const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK, COPYFILE_FICLONE, COPYFILE_EXCL } = constants;
  await using file = await open(from, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  if (!(await file.stat()).isFile()) return false;
  const isLinux = process.platform === 'linux';
  const source = isLinux ? `/proc/self/fd/${file.fd}` : from;
  if (isLinux && (await readlink(source)) !== from) return false;
  await copyFile(source, to, COPYFILE_FICLONE | COPYFILE_EXCL);
  return true;
}

async function makeFolder(path: string): Promise<void> {
  const stats = await lstat(path).catch(() => undefined);
  if (stats?.isDirectory()) return;
  await rm(path, { force: true });
  await mkdir(path, { mode: PRIVATE_FOLDER });
}

/** Removes the first part of the path that is no longer there. Never goes through what is no folder now. */
async function removeGone(
  copy: string,
  path: string,
  there: ReadonlyMap<string, ArchiveEntry['type']>,
): Promise<void> {
  const parts = path.split('/').map((_, index, names) => names.slice(0, index + 1).join('/'));
  const first = parts.find((part) => there.get(part) !== 'folder');
  if (first !== undefined && !there.has(first)) {
    await rm(join(copy, first), { recursive: true, force: true });
  }
}

function isUnchanged(now: BigIntStats, before: BigIntStats | undefined, beganMs: number): boolean {
  if (!before || now.mtimeMs > BigInt(beganMs - LOCAL_LIMITS.fileClockMs)) return false;
  const { ino, size, mtimeNs, ctimeNs } = before;
  return now.ino === ino && now.size === size && now.mtimeNs === mtimeNs && now.ctimeNs === ctimeNs;
}
