/** Where the state of an instance lies, and the folder itself: outside the workspace, for its owner only. */
import { createHash } from 'node:crypto';
import { chmod, readdir, realpath, stat } from 'node:fs/promises';
import { homedir } from 'node:os';
import { basename, dirname, isAbsolute, join, resolve } from 'node:path';
import { LocalError } from '../../machine/local-error.ts';
import { makePrivateFolders } from '../../machine/private-files.ts';
import { isSystemError } from '../../machine/system-error.ts';
import { contains, resolveWorkspace } from './workspace.ts';

/** Names one instance: that of a workspace, or the one whose state lies in `stateDir`. */
export interface StateLocation {
  readonly workspaceDir: string;
  readonly stateDir?: string | undefined;
}

const OWNER_ONLY = 0o700;
const ALL_MODES = 0o777;
const HASH_DIGITS = 10;
/** Every state folder has it, and it is the first file made: see local/state/state.ts. */
export const STATE_MARK = 'auth-secret';

/**
 * The real path of a state folder, which need not exist yet; nothing is made.
 * @throws {LocalError} if the workspace is no good, or one of the two folders would hold the other.
 */
export async function locateState(location: StateLocation): Promise<string> {
  const workspaceDir = await resolveWorkspace(location.workspaceDir);
  const dir = await realPathOf(location.stateDir ?? defaultDir(workspaceDir));
  if (contains(workspaceDir, dir) || contains(dir, workspaceDir)) {
    // The agent writes in the workspace, and must never reach the keys that approve its own calls.
    throw new LocalError(
      'refused',
      `The state folder ${dir} and the workspace ${workspaceDir} must not hold one another: give another --state.`,
    );
  }
  return dir;
}

/**
 * Makes the folder, or closes an existing one to all but its owner.
 * @throws {LocalError} if it holds something else: changing its mode would be a surprise, and so would our files.
 */
export async function openStateFolder(dir: string): Promise<void> {
  const entries = await readdir(dir).catch((error: unknown) => {
    if (isSystemError(error, 'ENOENT')) return [];
    throw new LocalError('refused', `The state folder ${dir} is not a folder that can be read.`, {
      cause: error,
    });
  });
  if (entries.length > 0 && !entries.some((entry) => entry.startsWith(STATE_MARK))) {
    throw new LocalError(
      'refused',
      `The folder ${dir} holds other files: give --state a new or an empty folder.`,
    );
  }
  makePrivateFolders(dir);
  // On a disk that is read-only by now, what is stored can still be used.
  if (((await stat(dir)).mode & ALL_MODES) !== OWNER_ONLY) await chmod(dir, OWNER_ONLY);
}

function defaultDir(workspaceDir: string): string {
  const { XDG_STATE_HOME } = process.env;
  // The XDG specification has relative paths ignored.
  const base =
    XDG_STATE_HOME && isAbsolute(XDG_STATE_HOME)
      ? XDG_STATE_HOME
      : join(homedir(), '.local', 'state');
  const name = basename(workspaceDir).replaceAll(/[^\w.-]/g, '-');
  const hash = createHash('sha256').update(workspaceDir).digest('hex').slice(0, HASH_DIGITS);
  return join(base, 'drawbridge', `${name}-${hash}`);
}

/** The real path that `path` has, or will have once it is made: links in its existing parents are followed. */
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
