/** Follows a `.git` file to the folders that it stands for: those of a linked worktree or of a submodule. */
import { realpath } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { readPlainFile } from '../../machine/private-files.ts';
import { isSystemError } from '../../machine/system-error.ts';
import { isBelow } from './byte-path.ts';

export interface LinkedGitFolders {
  /** The worktree's own folder and the one it shares with others; real paths. */
  readonly folders: readonly string[];
  /**
   * Whether git itself made the link: the folder names the worktree in return. A `.git` file is easily written by a
   * command, and must not open any folder of its choice.
   */
  readonly isMutual: boolean;
}

/** None when the file is no link of git's, or leads nowhere. */
export async function linkedGitFolders(gitFile: string): Promise<LinkedGitFolders> {
  try {
    const own = await realpath(await followLine(gitFile, /^gitdir: (.+)$/m));
    const common = await commonFolder(own);
    // One that holds the file itself would open all that lies around the workspace.
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

const NO_LINK = [
  'ENOENT',
  'ENOTDIR',
  'EINVAL',
  'EFBIG',
  'ENXIO',
  'EACCES',
  'ELOOP',
  'ENAMETOOLONG',
];

const NONE: LinkedGitFolders = { folders: [], isMutual: false };

async function commonFolder(own: string): Promise<string> {
  try {
    return await realpath(await followLine(join(own, 'commondir'), /^(.+)$/m));
  } catch (error) {
    // A submodule's folder shares nothing.
    if (isSystemError(error, 'ENOENT')) return own;
    throw error;
  }
}

async function namesInReturn(own: string, gitFile: string): Promise<boolean> {
  const named = await followLine(join(own, 'gitdir'), /^(.+)$/m);
  return (await realpath(named)) === (await realpath(gitFile));
}

/** The path that a line of a file holds, relative to the file's folder. Without such a line: the file itself. */
async function followLine(file: string, line: RegExp): Promise<string> {
  const path = line.exec(await readPlainFile(file))?.[1]?.trim();
  return path === undefined ? file : resolve(dirname(file), path);
}
