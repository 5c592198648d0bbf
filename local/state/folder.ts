/** Finds and makes the state folder of an instance: outside the workspace, readable for its owner only. */
import { createHash } from 'node:crypto';
import { chmod, readdir, realpath, stat } from 'node:fs/promises';
import { homedir } from 'node:os';
import { basename, dirname, isAbsolute, join, resolve } from 'node:path';
import { LocalError } from '../../machine/local-error.ts';
import { makePrivateFolders } from '../../machine/private-files.ts';
import { isSystemError } from '../../machine/system-error.ts';
import { contains, resolveWorkspace } from './workspace.ts';

/** Names one instance: by its workspace, or by its `stateDir` too. */
export interface StateLocation {
  readonly workspaceDir: string;
  readonly stateDir?: string | undefined;
}

const OWNER_ONLY = 0o700;
const ALL_MODES = 0o777;
const HASH_DIGITS = 10;
/** The first file in every state folder: see local/state/state.ts. */
export const STATE_MARK = 'auth-secret';

/**
 * The real path of a state folder, which need not exist yet. Creates nothing.
 * @throws {LocalError} if the folder cannot be a workspace, or one of the two folders contains the other.
 */
export async function locateState(location: StateLocation): Promise<string> {
  const workspaceDir = await resolveWorkspace(location.workspaceDir);
  const dir = await realPathOf(location.stateDir ?? defaultDir(workspaceDir));
  if (contains(workspaceDir, dir) || contains(dir, workspaceDir)) {
    // The agent writes to the workspace, and must never reach the keys that approve its own calls.
    throw new LocalError(
      'refused',
      `The state folder ${dir} and the workspace ${workspaceDir} must not contain each other: give another --state.`,
    );
  }
  return dir;
}

/**
 * Makes the folder, or closes an existing one to everyone but its owner.
 * @throws {LocalError} if the folder contains other files: its mode must not change, and no state belongs there.
 */
export async function openStateFolder(dir: string): Promise<void> {
  const entries = await readdir(dir).catch((error: unknown) => {
    if (isSystemError(error, 'ENOENT')) return [];
    throw new LocalError('refused', `The state folder ${dir} cannot be read as a folder.`, {
      cause: error,
    });
  });
  if (entries.length > 0 && !entries.some((entry) => entry.startsWith(STATE_MARK))) {
    throw new LocalError(
      'refused',
      `The folder ${dir} contains other files: give --state a new or an empty folder.`,
    );
  }
  makePrivateFolders(dir);
  // Changes the mode only if needed: an instance can still read its state on a read-only disk.
  if (((await stat(dir)).mode & ALL_MODES) !== OWNER_ONLY) await chmod(dir, OWNER_ONLY);
}

function defaultDir(workspaceDir: string): string {
  const { XDG_STATE_HOME } = process.env;
  // The XDG specification says to ignore relative paths.
  const base =
    XDG_STATE_HOME && isAbsolute(XDG_STATE_HOME)
      ? XDG_STATE_HOME
      : join(homedir(), '.local', 'state');
  const name = basename(workspaceDir).replaceAll(/[^\w.-]/g, '-');
  const hash = createHash('sha256').update(workspaceDir).digest('hex').slice(0, HASH_DIGITS);
  return join(base, 'drawbridge', `${name}-${hash}`);
}

/** The real path that `path` has, or will have once it exists: follows links in its existing parents. */
async function realPathOf(path: string): Promise<string> {
  const absolute = resolve(path);
  try {
    return await realpath(absolute);
  } catch (error) {
    if (!isSystemError(error, 'ENOENT')) {
      throw new LocalError('refused', `The state folder ${absolute} cannot be reached.`, {
        cause: error,
      });
    }
    return join(await realPathOf(dirname(absolute)), basename(absolute));
  }
}
