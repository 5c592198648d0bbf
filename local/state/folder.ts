/** Finds and makes the state folders of an instance: outside the workspace, readable for its owner only. */
import { existsSync } from 'node:fs';
import { chmod, readdir, realpath, stat } from 'node:fs/promises';
import { basename, dirname, isAbsolute, join, resolve } from 'node:path';
import { sha256 } from '../../machine/hash.ts';
import { findHome } from '../../machine/home-folder.ts';
import { LocalError } from '../../machine/local-error.ts';
import { makePrivateFolders } from '../../machine/private-files.ts';
import { codeOf, isSystemError } from '../../machine/system-error.ts';
import { contains, resolveWorkspace } from './workspace.ts';

/** Names one instance: by its workspace, or by its `stateDir` too. */
export interface StateLocation {
  readonly workspaceDir: string;
  readonly stateDir?: string | undefined;
}

/** The folders where an instance and the bridge of one project keep their files. */
export interface StatePlace {
  /** `shared`: the user's one server. `own`: one for this workspace, named by `--state`, or of an earlier release. */
  readonly kind: 'shared' | 'own';
  /** The real path of the project's folder. */
  readonly workspaceDir: string;
  /** Holds the secret, the device, the conversations, the logs and the claim of the running process. */
  readonly serverDir: string;
  /** Holds the files of the project's bridge. It is `serverDir` for the kind `own`. */
  readonly projectDir: string;
}

const OWNER_ONLY = 0o700;
const ALL_MODES = 0o777;
const HASH_DIGITS = 10;
/** In every state folder: see local/state/state.ts. */
export const STATE_MARK = 'auth-secret';
/** The files that are written first: after a crash at any moment, a state folder has one of them or is empty. */
const FIRST_FILES = [STATE_MARK, 'state.json'];

/**
 * The only place that decides where state is. The folders need not exist yet; nothing is created.
 * @throws {LocalError} if the folder cannot be a workspace, or if it and a state folder contain each other.
 */
export async function locateState(location: StateLocation): Promise<StatePlace> {
  const workspaceDir = await resolveWorkspace(location.workspaceDir);
  const place = await placeOf(workspaceDir, location.stateDir);
  for (const dir of [place.serverDir, place.projectDir]) {
    if (!contains(workspaceDir, dir) && !contains(dir, workspaceDir)) continue;
    // The agent writes to the workspace, and must never reach the keys that approve its own calls.
    throw new LocalError(
      'refused',
      `The state folder ${dir} and the workspace ${workspaceDir} must not contain each other: give another --state.`,
    );
  }
  return place;
}

async function placeOf(workspaceDir: string, stateDir: string | undefined): Promise<StatePlace> {
  if (stateDir !== undefined) return ownPlace(workspaceDir, await realPathOf(stateDir));
  const name = projectName(workspaceDir);
  const earlier = await realPathOf(join(stateHome(), name));
  if (existsSync(join(earlier, STATE_MARK))) return ownPlace(workspaceDir, earlier);
  const serverDir = await sharedServerDir();
  const projectDir = await realPathOf(join(serverDir, 'projects', name));
  return { kind: 'shared', workspaceDir, serverDir, projectDir };
}

function ownPlace(workspaceDir: string, dir: string): StatePlace {
  return { kind: 'own', workspaceDir, serverDir: dir, projectDir: dir };
}

/**
 * The real path of the state folder that `--state` names, for a command that only uses it. Without a workspace: the
 * folder that the person stands in does not count.
 * @throws {LocalError} if there is no state in it.
 */
export async function namedServerDir(stateDir: string): Promise<string> {
  const dir = await realPathOf(stateDir);
  if (existsSync(join(dir, STATE_MARK))) return dir;
  throw new LocalError('refused', `There is no state in ${dir}: name one with --state.`);
}

/** The real path of the shared server's state folder, which need not exist yet. */
export async function sharedServerDir(): Promise<string> {
  return await realPathOf(join(stateHome(), 'server'));
}

/**
 * The real paths of the folders that hold all of this user's states but those that `--state` names elsewhere. The second
 * one is there only where the shared server's folder is a link: what lies beside its target is not ours.
 */
export async function stateFoldersOfUser(): Promise<string[]> {
  const [home, server] = [await realPathOf(stateHome()), await sharedServerDir()];
  return contains(home, server) ? [home] : [home, server];
}

/** The real paths of the user's servers' folders: the shared one and kept ones, without those of `--state`. */
export async function serverDirsOfUser(): Promise<string[]> {
  const home = stateHome();
  const names = await readdir(home).catch((error: unknown) => {
    if (isSystemError(error, 'ENOENT')) return [];
    throw error;
  });
  const own = names
    .map((name) => join(home, name))
    .filter((dir) => existsSync(join(dir, STATE_MARK)));
  return [...new Set([await sharedServerDir(), ...(await Promise.all(own.map(realPathOf)))])];
}

/**
 * Makes the folder, or closes an existing one to everyone but its owner.
 * @throws {LocalError} if the folder contains other files: its mode must not change, and no state belongs there. Also if
 *   it cannot be read, or is the state of the user who has called sudo.
 */
export async function openStateFolder(dir: string): Promise<void> {
  await requireNoSudo(dir);
  const entries = await readdir(dir).catch((error: unknown) => {
    if (isSystemError(error, 'ENOENT')) return [];
    throw unusable(`The state folder ${dir} cannot be read as a folder`, error);
  });
  const isOurs = entries.some((entry) => FIRST_FILES.some((first) => entry.startsWith(first)));
  if (entries.length > 0 && !isOurs) {
    throw new LocalError(
      'refused',
      `The folder ${dir} contains other files: give --state a new or an empty folder.`,
    );
  }
  makePrivateFolders(dir);
  // Changes the mode only if needed: an instance can still read its state on a read-only disk.
  if (((await stat(dir)).mode & ALL_MODES) !== OWNER_ONLY) await chmod(dir, OWNER_ONLY);
}

/** Root's files in a person's state would keep that person out of it. In a container, root may use what is mounted. */
async function requireNoSudo(dir: string): Promise<void> {
  const { SUDO_UID } = process.env;
  if (process.getuid?.() !== 0 || !SUDO_UID || SUDO_UID === '0') return;
  for (let folder = dir; ; folder = dirname(folder)) {
    const stats = await stat(folder).catch(() => undefined);
    if (!stats && dirname(folder) !== folder) continue;
    if (`${stats?.uid}` !== SUDO_UID) return;
    const message = `The state folder ${dir} is a place of the user who has called sudo: run the command without sudo, or give another --state.`;
    throw new LocalError('refused', message);
  }
}

/** The folder of all states that are named by no `--state`. @throws {LocalError} without a home folder. */
function stateHome(): string {
  const { XDG_STATE_HOME } = process.env;
  // The XDG specification says to ignore relative paths.
  if (XDG_STATE_HOME && isAbsolute(XDG_STATE_HOME)) return join(XDG_STATE_HOME, 'drawbridge');
  const home = findHome();
  if (home !== undefined) return join(home, '.local', 'state', 'drawbridge');
  const message =
    'There is no home folder for the state: set HOME or XDG_STATE_HOME, or give --state.';
  throw new LocalError('refused', message);
}

/** Names a project's files: readable, and different for each folder. `workspaceDir` is a real path. */
export function projectName(workspaceDir: string): string {
  const name = basename(workspaceDir).replaceAll(/[^\w.-]/g, '-');
  const hash = sha256(workspaceDir).slice(0, HASH_DIGITS);
  return `${name}-${hash}`;
}

/** The log of a project's bridge, in the folder of its server's logs. `workspaceDir` is a real path. */
export function bridgeLogOf(logsDir: string, workspaceDir: string): string {
  return join(logsDir, `bridge-${projectName(workspaceDir)}.log`);
}

/** The real path that `path` has, or will have once it exists: follows links in its existing parents. */
async function realPathOf(path: string): Promise<string> {
  const absolute = resolve(path);
  try {
    return await realpath(absolute);
  } catch (error) {
    if (!isSystemError(error, 'ENOENT')) {
      throw unusable(`The state folder ${absolute} cannot be reached`, error);
    }
    return join(await realPathOf(dirname(absolute)), basename(absolute));
  }
}

function unusable(what: string, cause: unknown): LocalError {
  const isClosed = isSystemError(cause, 'EACCES', 'EPERM');
  const [why, todo] = isClosed
    ? ['you may not enter it, or a folder above it', 'change its owner or its permissions']
    : [codeOf(cause), 'move away what is in its place'];
  const message = `${what} (${why}): ${todo}, or give another place with --state or XDG_STATE_HOME.`;
  return new LocalError('refused', message, { cause });
}
