/** The person's folders that commands see in a worktree: packages that would take long to install again. */
import { lstat, realpath, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { FolderLink } from '../sandbox/confinement.ts';
import { anchorFolder } from '../workspace/anchor.ts';

/** Whether a folder is there, and no link leads to it. */
export async function isRealFolder(path: string): Promise<boolean> {
  const real = await realpath(path).catch(() => undefined);
  return real === path && (await stat(path)).isDirectory();
}

/** Those of these folders that are there, and that the worktree has no files of its own for. Makes their places. */
export async function prepareLinks(
  names: readonly string[],
  root: string,
  there: string,
): Promise<string[]> {
  const linked: string[] = [];
  for (const name of names) {
    const isTaken = (await lstat(join(there, name)).catch(() => undefined)) !== undefined;
    if (isTaken || !(await isRealFolder(join(root, name)))) continue;
    await using _ = await anchorFolder(join(there, name), { create: true });
    linked.push(name);
  }
  return linked;
}

/** The links of a worktree whose folders are still there, on both sides. */
export async function linksOf(
  names: readonly string[],
  root: string,
  there: string,
): Promise<FolderLink[]> {
  const links: FolderLink[] = [];
  for (const name of names) {
    const link = { from: join(root, name), to: join(there, name) };
    if ((await isRealFolder(link.from)) && (await isRealFolder(link.to))) links.push(link);
  }
  return links;
}
