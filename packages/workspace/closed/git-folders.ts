/** Follows a `.git` file to the folders that it stands for: those of a linked worktree or of a submodule. */
import { realpath } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { isBelow } from '../../../machine/byte-path.ts';
import { readPlainFile } from '../../../machine/private-files.ts';
import { isSystemError } from '../../../machine/system-error.ts';
import { words } from '../../../machine/words.ts';

export interface LinkedGitFolders {
  /** The worktree's own folder and the one it shares with others; real paths. */
  readonly folders: readonly string[];
  /**
   * Whether git itself made the link: then the folder names the worktree in return. A command can easily write a `.git`
   * file, and such a file must not open a folder of the command's choice.
   */
  readonly isMutual: boolean;
}

/** For a workspace that is a linked worktree: its git folders outside, if git itself made the link. */
export async function linkedGit(workspace: string): Promise<readonly string[]> {
  const { folders, isMutual } = await linkedGitFolders(join(workspace, '.git'));
  return isMutual ? folders.filter((folder) => !isBelow(workspace, folder)) : [];
}

/** None when the file is not a link made by git, or leads nowhere. */
export async function linkedGitFolders(gitFile: string): Promise<LinkedGitFolders> {
  try {
    const own = await realpath(await followLine(gitFile, /^gitdir: (.+)$/m));
    const common = await commonFolder(own);
    // A folder that holds the file itself would open everything around the workspace.
    const isApart = [common, own].every((folder) => !isBelow(folder, resolve(gitFile)));
    const isWorktree = common !== own && dirname(dirname(own)) === common && isApart;
    return {
      folders: [...new Set([common, own])],
      isMutual: isWorktree && (await namesInReturn(own, gitFile)),
    };
  } catch (error) {
    if (isSystemError(error, ...NO_LINK)) return NONE;
    throw error;
  }
}

const NO_LINK = words('ENOENT ENOTDIR EINVAL EFBIG ENXIO EACCES ELOOP ENAMETOOLONG');

const NONE: LinkedGitFolders = { folders: [], isMutual: false };

async function commonFolder(own: string): Promise<string> {
  try {
    return await realpath(await followLine(join(own, 'commondir'), /^(.+)$/m));
  } catch (error) {
    // A submodule's folder has no shared folder.
    if (isSystemError(error, 'ENOENT')) return own;
    throw error;
  }
}

async function namesInReturn(own: string, gitFile: string): Promise<boolean> {
  const named = await followLine(join(own, 'gitdir'), /^(.+)$/m);
  return (await realpath(named)) === (await realpath(gitFile));
}

/** The path in a file's line, relative to the file's folder. Without such a line: the file itself. */
async function followLine(file: string, line: RegExp): Promise<string> {
  const path = line.exec(await readPlainFile(file))?.[1]?.trim();
  return path === undefined ? file : resolve(dirname(file), path);
}
