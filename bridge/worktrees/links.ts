/** The person's folders that commands see in a worktree: packages that would take long to install again. */
import { lstat, realpath, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { FolderLink } from '../sandbox/confinement.ts';
import { anchorFolder } from '../workspace/anchor.ts';

/** The real place of a folder of the workspace, if it is there and no link leads to it. */
async function folderAt(root: string, name: string): Promise<string | undefined> {
  const path = join(root, name);
  const real = await realpath(path).catch(() => undefined);
  const stats = real === path ? await stat(path) : undefined;
  return stats?.isDirectory() ? path : undefined;
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
    if (isTaken || (await folderAt(root, name)) === undefined) continue;
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
    const [from, to] = [await folderAt(root, name), await folderAt(there, name)];
    if (from !== undefined && to !== undefined) links.push({ from, to });
  }
  return links;
}
