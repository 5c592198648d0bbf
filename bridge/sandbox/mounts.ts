/** The pieces of a sandbox's file system, as arguments of bubblewrap. Later ones lie over earlier ones. */
import { lstat, realpath, stat } from 'node:fs/promises';
import { dirname, sep } from 'node:path';
import type { ClosedEntry } from './closed-entries.ts';
import { linkedGitFolders } from './git-folders.ts';

/** Nothing of the folder can be seen, and what is written there is gone afterwards. */
export function hideFolder(path: string): string[] {
  return ['--perms', '0000', '--tmpfs', path];
}

/** A device on a mount without devices: opening it is refused. */
export function hideFile(path: string): string[] {
  return ['--ro-bind', '/dev/null', path];
}

/** `-try`: another command may have removed it since it was found. */
export function keepReadOnly(path: string): string[] {
  return ['--ro-bind-try', path, path];
}

export function keepWritable(path: string): string[] {
  return ['--bind', path, path];
}

/** Hides what a path leads to. Never a path that does not exist: bubblewrap would leave an empty file in its place. */
export async function hideIfAny(path: string): Promise<string[]> {
  const target = await realTarget(path);
  if (target === undefined) return [];
  return target.isFolder ? hideFolder(target.path) : hideFile(target.path);
}

/**
 * Closes a path of the workspace. A link is no place to mount on, so what it leads to is closed instead: a file
 * wherever it lies, a folder only inside the workspace, or a link to `/` would close the machine.
 */
export async function close(entry: ClosedEntry, workspace: string): Promise<string[]> {
  if (entry.kind !== 'link') {
    if (entry.closure === 'protected') return keepReadOnly(entry.path);
    return entry.kind === 'folder' ? hideFolder(entry.path) : hideFile(entry.path);
  }
  const target = await realTarget(entry.path);
  if (target === undefined) return [];
  const isOurs = isBelow(workspace, target.path);
  if (entry.closure === 'protected') return isOurs ? keepReadOnly(target.path) : [];
  if (target.isFolder) return isOurs ? hideFolder(target.path) : [];
  return hideFile(target.path);
}

/** Keeps the folders behind a `.git` file as the file itself: those inside the workspace would be writable otherwise. */
export async function closeLinkedGit(gitFile: string, workspace: string): Promise<string[]> {
  const { folders } = await linkedGitFolders(gitFile);
  return folders.filter((folder) => isBelow(workspace, folder)).flatMap(keepReadOnly);
}

/** Opens the folders behind the `.git` file of a worktree, if git says that they belong together. */
export async function openLinkedGit(gitFile: string): Promise<string[]> {
  const { folders, isMutual } = await linkedGitFolders(gitFile);
  return isMutual ? folders.flatMap(keepWritable) : [];
}

/** Names are looked up by the host's own means, and their configuration may lie in a folder that is hidden. */
export async function nameResolution(): Promise<string[]> {
  const target = await realTarget('/etc/resolv.conf');
  if (target === undefined || dirname(target.path) === '/etc') return [];
  return keepReadOnly(target.path);
}

/** Whether a path is truly inside a folder; both absolute and real. */
export function isBelow(folder: string, path: string): boolean {
  return path.startsWith(folder.endsWith(sep) ? folder : folder + sep);
}

/** Whether there is a folder of this name, and no link. */
export async function isFolder(path: string): Promise<boolean> {
  return await lstat(path).then(
    (stats) => stats.isDirectory(),
    () => false,
  );
}

async function realTarget(path: string): Promise<{ path: string; isFolder: boolean } | undefined> {
  try {
    const real = await realpath(path);
    return { path: real, isFolder: (await stat(real)).isDirectory() };
  } catch {
    // It does not exist, or we may not look: then a command may not either.
    return undefined;
  }
}
