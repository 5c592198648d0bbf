/** Checks the folder that an instance works in. */
import { realpath, stat } from 'node:fs/promises';
import { homedir } from 'node:os';
import { relative, resolve, sep } from 'node:path';
import { LocalError } from '../../machine/local-error.ts';

/**
 * The real path of a folder that can be a workspace.
 * @throws {LocalError} if the folder does not exist, or contains the home folder: the agent would get all of it.
 */
export async function resolveWorkspace(dir: string): Promise<string> {
  const path = await realpath(resolve(dir)).catch(() => undefined);
  if (path === undefined || !(await stat(path)).isDirectory()) {
    throw new LocalError('refused', `The workspace ${resolve(dir)} is not a folder.`);
  }
  const home = await realpath(homedir()).catch(() => homedir());
  if (contains(path, home)) {
    throw new LocalError(
      'refused',
      `The workspace must be the folder of one project, not ${path}, which contains your home folder.`,
    );
  }
  return path;
}

/** Whether `path` is `folder` or is inside it; both are absolute real paths. */
export function contains(folder: string, path: string): boolean {
  const way = relative(folder, path);
  return way === '' || !(way === '..' || way.startsWith(`..${sep}`) || resolve(way) === way);
}
