/** Brings an older state folder to the present format. */
import { existsSync, renameSync, rmSync } from 'node:fs';
import { readdir, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import * as z from 'zod';
import { LocalError } from '../../machine/local-error.ts';
import { takeLock } from '../../machine/lock.ts';
import {
  flushFolder,
  makePrivateFolder,
  readIfThere,
  readOrCreate,
  replaceFile,
} from '../../machine/private-files.ts';
import { LOCAL_LIMITS } from '../limits.ts';
import { OWN_VERSION } from '../own-root.ts';
import { STATE_MARK } from './folder.ts';
import {
  FORMAT_STEPS,
  type FormatStep,
  formatPath,
  PRESENT_FORMAT,
  readFormat,
  refuseNewer,
  type StateFormat,
} from './format.ts';
import { findInstanceIn } from './running.ts';

/**
 * Upgrades a state of an earlier version, and keeps a backup from before. A new folder gets the present format. Killed
 * at any point, the next call goes on; if it fails, the state is as it was.
 * @throws {LocalError} if a later version wrote the state, if an earlier version runs on it, or if it cannot be written.
 */
export async function openFormat(dir: string, steps = FORMAT_STEPS): Promise<StateFormat> {
  const found = (await readFormat(dir)) ?? (await formatWithoutFile(dir));
  refuseNewer(`The state ${dir}`, found, steps.length);
  const isPresent = found.format === steps.length && !found.isUpgrading;
  if (isPresent && !existsSync(commitPath(dir))) return found;
  try {
    using _lock = await lockToUpgrade(dir, found);
    return await upgrade(dir, steps);
  } catch (error) {
    if (error instanceof LocalError) throw error;
    throw failed(dir, found, error);
  }
}

/** What stands for a state from before `state.json`. */
const EARLIEST: StateFormat = { format: 0, writtenBy: 'an earlier version' };

/** A state without `state.json` has its secret already. A folder without both is new. */
async function formatWithoutFile(dir: string): Promise<StateFormat> {
  if (existsSync(join(dir, STATE_MARK))) return (await readFormat(dir)) ?? EARLIEST;
  await readOrCreate(formatPath(dir), () => JSON.stringify(PRESENT_FORMAT));
  return (await readFormat(dir)) ?? PRESENT_FORMAT;
}

async function upgrade(dir: string, steps: readonly FormatStep[]): Promise<StateFormat> {
  await finishCommit(dir);
  const { isUpgrading, ...found } = (await readFormat(dir)) ?? EARLIEST;
  // A backup of a format between would push out the one from before.
  if (found.format < steps.length && !isUpgrading) await keepBackup(dir, found);
  // A later version was killed on its way beyond: its next upgrade takes its backup anew.
  if (found.format === steps.length && isUpgrading) await commit(dir, stateFile(found));
  let present: StateFormat = found;
  for (const step of steps.slice(found.format)) {
    const format = present.format + 1;
    present = { ...found, format, writtenBy: OWN_VERSION };
    const written = { ...present, ...(format < steps.length && { isUpgrading: true as const }) };
    const changed = (await step.change?.(dir)) ?? {};
    await commit(dir, { ...changed, ...stateFile(written) });
  }
  return present;
}

function stateFile(format: StateFormat): Record<string, string> {
  return { [basename(formatPath('.'))]: JSON.stringify(format) };
}

/** Keeps one backup for each upgrade, and removes all but the newest. A killed upgrade writes its own again. */
async function keepBackup(dir: string, { format, writtenBy }: StateFormat): Promise<void> {
  const folder = join(dir, 'backups');
  makePrivateFolder(folder);
  for (const name of await readdir(folder)) {
    if (name.endsWith('.partial')) await rm(join(folder, name), { force: true });
  }
  const createdMs = Date.now();
  const date = new Date(createdMs).toISOString().replaceAll(/[:.]/g, '-');
  const head = { archive: 1, format, writtenBy, createdMs } as const;
  const { writeArchive } = await import('../archive/archive.ts'); // Rare: a start does not load it.
  await writeArchive(join(folder, `${date}-format-${format}.tar.gz`), dir, head);
  const kept = (await readdir(folder)).filter((name) => /-format-\d+\.tar\.gz$/.test(name)).sort();
  for (const name of kept.slice(0, -LOCAL_LIMITS.maxUpgradeBackups)) await rm(join(folder, name));
}

/** A list of files to put in place: its own file is what decides whether they come in place. */
const Commit = z.object({ changed: z.array(z.string()), removed: z.array(z.string()) });

/** Changes several files at once: after a crash, all of them are changed or none. */
async function commit(dir: string, texts: Readonly<Record<string, string | null>>): Promise<void> {
  const removed = Object.keys(texts).filter((path) => texts[path] === null);
  const changed = Object.keys(texts).filter((path) => texts[path] !== null);
  for (const path of [...changed.map((each) => newPath(dir, each)), commitPath(dir)]) {
    await removeHalfWritten(path);
  }
  try {
    for (const path of changed) replaceFile(newPath(dir, path), texts[path] ?? '');
    replaceFile(commitPath(dir), JSON.stringify({ changed, removed }));
  } catch (error) {
    for (const path of changed) rmSync(newPath(dir, path), { force: true });
    throw error;
  }
  await finishCommit(dir);
}

/** Removes what a killed upgrade has left of its attempts to write a file. */
async function removeHalfWritten(path: string): Promise<void> {
  const [folder, start] = [dirname(path), `${basename(path)}.`];
  for (const name of await readdir(folder)) {
    if (name.startsWith(start) && name.endsWith('.tmp')) await rm(join(folder, name));
  }
}

/** Needs no room on the disk. */
async function finishCommit(dir: string): Promise<void> {
  const text = await readIfThere(commitPath(dir));
  if (text === undefined) return;
  const { changed, removed } = Commit.parse(JSON.parse(text));
  for (const path of changed) {
    if (existsSync(newPath(dir, path))) renameSync(newPath(dir, path), join(dir, path));
  }
  for (const path of removed) rmSync(join(dir, path), { force: true });
  for (const folder of new Set([...changed, ...removed].map((path) => dirname(join(dir, path))))) {
    flushFolder(folder);
  }
  rmSync(commitPath(dir));
}

function commitPath(dir: string): string {
  return join(dir, 'upgrade.json');
}

function newPath(dir: string, path: string): string {
  return join(dir, `${path}.upgrade`);
}

/** Waits for another process that upgrades, and not for a server that runs. */
async function lockToUpgrade(dir: string, found: StateFormat): Promise<Disposable> {
  const deadline = performance.now() + LOCAL_LIMITS.upgradeWaitMs;
  for (;;) {
    const lock = takeLock(join(dir, 'lock'));
    if (lock.isTaken) return lock;
    // One that cannot be read is of a server, too.
    const isServer = await findInstanceIn(dir).then(Boolean, () => true);
    if (isServer || performance.now() > deadline) {
      const message = `The state ${dir} has format ${found.format}, and process ${lock.holder} of ${found.writtenBy} still runs on it: end that one (\`drawbridge stop\`, or Ctrl-C where it runs), which loses nothing, and run this command again.`;
      throw new LocalError('refused', message);
    }
    await sleep(LOCAL_LIMITS.upgradePollMs);
  }
}

function failed(dir: string, { writtenBy }: StateFormat, cause: unknown): LocalError {
  const why = cause instanceof Error ? cause.message : String(cause);
  const message = `The state ${dir} could not be upgraded (${why}). It is as it was, and ${writtenBy} can still use it: make room on its disk or make it writable, and run this command again.`;
  return new LocalError('failed', message, { cause });
}
