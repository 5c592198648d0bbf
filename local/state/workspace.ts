/** Checks the folder that an instance works in. */
import { realpath, stat } from 'node:fs/promises';
import { basename, dirname, join, relative, resolve, sep } from 'node:path';
import { configFolder } from '../../machine/config-folder.ts';
import { findHome } from '../../machine/home-folder.ts';
import { LocalError } from '../../machine/local-error.ts';

/**
 * The real path of a folder that can be a workspace.
 * @throws {LocalError} if the folder does not exist, or contains the home folder: the agent would get all of it. Also if
 *   config.json is in it: the agent could make it name programs to run.
 */
export async function resolveWorkspace(dir: string): Promise<string> {
  const path = await realpath(resolve(dir)).catch(() => undefined);
  if (path === undefined || !(await stat(path)).isDirectory()) {
    throw new LocalError('refused', `The workspace ${resolve(dir)} is not a folder.`);
  }
  const home = findHome();
  if (home !== undefined && contains(path, await realpath(home).catch(() => home))) {
    throw new LocalError(
      'refused',
      `The workspace must be the folder of one project, not ${path}, which contains your home folder.`,
    );
  }
  await requireForeignTo(path, configFolder(process.env));
  return path;
}

async function requireForeignTo(workspace: string, folder: string | undefined): Promise<void> {
  if (folder === undefined) return;
  const file = join(folder, 'config.json');
  const places = [await realPathOf(file), join(await realPathOf(folder), 'config.json')];
  if (!places.some((place) => contains(workspace, place))) return;
  throw new LocalError(
    'refused',
    `The workspace ${workspace} must not contain ${file}, in which the agent could change its own limits.`,
  );
}

/** The real path that `path` has, or will have once it exists. */
async function realPathOf(path: string): Promise<string> {
  const real = await realpath(path).catch(() => undefined);
  if (real !== undefined || dirname(path) === path) return real ?? path;
  return join(await realPathOf(dirname(path)), basename(path));
}

/** Whether `path` is `folder` or is inside it; both are absolute real paths. */
export function contains(folder: string, path: string): boolean {
  const way = relative(folder, path);
  return way === '' || !(way === '..' || way.startsWith(`..${sep}`) || resolve(way) === way);
}
