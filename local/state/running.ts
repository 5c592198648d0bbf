/** Keeps at most one instance running on a state, and lets other processes find its URL. */
import { existsSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import * as z from 'zod';
import { LocalError } from '../../machine/local-error.ts';
import { holderOf, isLocked, takeLock } from '../../machine/lock.ts';
import { readIfThere, replaceFile } from '../../machine/private-files.ts';
import { readStateFile } from '../../machine/state-file.ts';
import { locateState, type StateLocation } from './folder.ts';
import { readKnownFormat } from './format.ts';

/** A running instance, as written in `instance.json` in its state folder. */
const Instance = z.object({
  url: z.url(),
  pid: z.int(),
  /** The path of its control socket (local/server/control.ts). One of an earlier version may have none. */
  control: z.string().default(''),
});
export type Instance = z.infer<typeof Instance>;

/** This process's claim on a state. It ends with `release` or with the process. */
export interface Claim {
  /** Publishes where the instance is reached. */
  announce(reached: Omit<Instance, 'pid'>): Promise<void>;
  release(): Promise<void>;
}

/**
 * Claims the state for this process.
 * @throws {LocalError} with the URL of the instance that already runs on it, or if a later version has upgraded it since
 *   it was opened.
 */
export async function claimState(state: { readonly dir: string }): Promise<Claim> {
  const lock = takeLock(lockPath(state.dir));
  if (!lock.isTaken) throw await alreadyRunning(state.dir);
  const path = instancePath(state.dir);
  try {
    await readKnownFormat(state.dir);
    // A killed instance leaves its address behind, where another program may answer now.
    await rm(path, { force: true, recursive: true });
  } catch (error) {
    lock[Symbol.dispose]();
    throw error;
  }
  return {
    announce: async (reached) =>
      replaceFile(path, JSON.stringify({ ...reached, pid: process.pid })),
    release: async () => {
      await rm(path, { force: true });
      lock[Symbol.dispose]();
    },
  };
}

/** Whether a process has the server's state, even if it is still starting. Creates nothing. */
export function isClaimed(serverDir: string): boolean {
  return isLocked(lockPath(serverDir));
}

/** The instance that runs for this workspace or on this state folder, if any. Creates nothing. */
export async function findInstance(location: StateLocation): Promise<Instance | undefined> {
  return await findInstanceIn((await locateState(location)).serverDir);
}

/** The instance that runs on this state; undefined while it starts, as it has no URL yet. Creates nothing. */
export async function findInstanceIn(serverDir: string): Promise<Instance | undefined> {
  const holder = holderOf(lockPath(serverDir));
  const instance = holder === undefined ? undefined : await readInstance(serverDir);
  // An instance that was killed leaves its address until the next one has removed it.
  return instance?.pid === holder ? instance : undefined;
}

/** The projects here and above, the nearest first, with whether their server runs. Ends where none can be. */
export async function listLocations(
  folder: string,
): Promise<{ location: StateLocation; isRunning: boolean }[]> {
  const found = [];
  for (let dir = resolve(folder), last = ''; dir !== last; last = dir, dir = dirname(dir)) {
    const location = { workspaceDir: dir };
    const place = await locateState(location).catch(() => undefined);
    if (place === undefined) break;
    if (!existsSync(place.projectDir)) continue;
    found.push({ location, isRunning: isClaimed(place.serverDir) });
  }
  return found;
}

/** The file that keeps which folders come back with the next start of a server: their real paths. */
export const ConnectedList = z.object({ projects: z.array(z.string()) });

export function connectedListPath(serverDir: string): string {
  return join(serverDir, 'projects.json');
}

/** The folders of the list; none where there is none, or where it is damaged. */
export async function listConnected(serverDir: string): Promise<readonly string[]> {
  // The server reports a damaged one at its next start.
  const list = await readStateFile(connectedListPath(serverDir), ConnectedList).catch(() => null);
  return list?.projects ?? [];
}

async function alreadyRunning(dir: string): Promise<LocalError> {
  const instance = await findInstanceIn(dir);
  const where = instance ? `at ${instance.url} (process ${instance.pid})` : 'and is starting';
  return new LocalError(
    'refused',
    `Drawbridge already runs for this workspace ${where}: use it, end it, or give another --state.`,
  );
}

async function readInstance(dir: string): Promise<Instance | undefined> {
  const text = await readIfThere(instancePath(dir));
  try {
    return text === undefined ? undefined : Instance.parse(JSON.parse(text));
  } catch (cause) {
    const damaged = `${instancePath(dir)} is damaged: end the Drawbridge that runs for this workspace, and start it again.`;
    throw new LocalError('failed', damaged, { cause });
  }
}

function lockPath(dir: string): string {
  return join(dir, 'lock');
}

function instancePath(dir: string): string {
  return join(dir, 'instance.json');
}
