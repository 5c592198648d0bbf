/** The folder of a worktree's calls, and the person's folders that its commands see there. */
import { lstat } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { ToolFailure } from '../../machine/failure.ts';
import { type FolderLink, isRealFolder, type OtherFolder } from '../../packages/sandbox/index.ts';
import { anchorFolder, type ResolvedPath } from '../../packages/workspace/index.ts';
import { nameInLine } from '../../shared/text/plain-sight.ts';
import { worktreeFailed } from './git.ts';
import type { WorktreeFacts, WorktreePaths } from './store.ts';

/** The place of the workspace in a checkout; undefined where it has none. */
export async function workFolder(
  { tree }: WorktreePaths,
  prefix: string,
): Promise<string | undefined> {
  const path = prefix === '' ? tree : join(tree, prefix.slice(0, -1));
  return (await isRealFolder(path)) ? path : undefined;
}

/** What commands see in a worktree and outside of it. Throws a ToolFailure where it, or its repository, has gone. */
export async function folderOf(
  root: string,
  { prefix, objects, links }: WorktreeFacts,
  paths: WorktreePaths,
): Promise<OtherFolder> {
  const { tree } = paths;
  const workspace = await workFolder(paths, prefix);
  if (workspace === undefined) throw worktreeGone();
  if (!(await isRealFolder(objects))) throw worktreeFailed(MOVED);
  const linked = [{ from: objects, to: objects }, ...(await linksOf(links, root, workspace))];
  if (prefix === '') return { workspace, links: linked };
  const dotGit = await linksOf(['.git'], tree, tree);
  return { workspace, links: [...linked, ...dotGit], variables: ACROSS_MOUNTS };
}

/** Throws a ToolFailure for a place in a repository inside the worktree: no commit of the worktree can hold it. */
export async function assertOwn(
  { name, path }: ResolvedPath,
  { modules = [] }: WorktreeFacts,
  { tree }: WorktreePaths,
): Promise<void> {
  const submodules = new Set(modules.map((module) => join(tree, module)));
  for (let folder = dirname(path); folder.startsWith(`${tree}/`); folder = dirname(folder)) {
    const dotGit = await lstat(join(folder, '.git')).catch(() => undefined);
    if (dotGit === undefined && !submodules.has(folder)) continue;
    throw new ToolFailure(
      'NESTED_REPOSITORY',
      `${nameInLine(name)} is in ${nameInLine(relative(tree, folder))}, a submodule or a repository of its own. ` +
        'The difference and the commit of this work cannot hold it: leave it, and say in your answer what must change there.',
    );
  }
}

/** The workspace is a mount of its own, and its repository begins outside of it. */
const ACROSS_MOUNTS = { GIT_DISCOVERY_ACROSS_FILESYSTEM: '1' };

export function worktreeGone(): ToolFailure {
  return new ToolFailure(
    'WORKTREE_GONE',
    'This conversation has no worktree, or it was removed: the work cannot go on here. Begin another one.',
  );
}

const MOVED =
  'The repository that the worktree was made from is not in its place any more: the person can move it back, or remove ' +
  'the worktree (`drawbridge worktrees`).';

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
async function linksOf(
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
