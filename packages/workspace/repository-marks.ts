/** Knows where a change could complete a folder that git takes for a repository, and lets one such change in at a time. */
import { lstat } from 'node:fs/promises';
import { join } from 'node:path';
import { Lanes } from '../../machine/lanes.ts';
import { isSystemError } from '../../machine/system-error.ts';
import { looksLikeRepository, REPOSITORY_MARKS, repositoryMark } from './closed/protected.ts';

/** A part of a path by whose name git knows a repository. */
export interface RepositoryMark {
  /** Absolute: the folder that the part is in. It may not exist yet. */
  readonly folder: string;
  /** As git spells it. */
  readonly name: string;
}

/** The marks of a path, by its names from `root` on. Most paths have none. */
export function marksOf(root: string, names: readonly string[]): RepositoryMark[] {
  return names.flatMap((part, depth) => {
    const name = repositoryMark(part);
    return name === undefined ? [] : { folder: join(root, ...names.slice(0, depth)), name };
  });
}

/** Whether one of the folders is a repository to git once it has its mark. An entry that cannot be seen counts as there. */
export async function completeRepository(marks: readonly RepositoryMark[]): Promise<boolean> {
  for (const { folder, name } of marks) {
    const there = new Set([name]);
    await Promise.all(
      [...REPOSITORY_MARKS].map(async (other) => {
        if (await mayExist(join(folder, other))) there.add(other);
      }),
    );
    if (looksLikeRepository(there)) return true;
  }
  return false;
}

/**
 * Does the work while no other change of this process, in whatever workspace, makes a mark in the same folders. What
 * {@link completeRepository} says then holds until the end, but for other programs.
 */
export async function inTurnFor<Value>(
  marks: readonly RepositoryMark[],
  work: () => Promise<Value>,
): Promise<Value> {
  return await MAKING.run([...new Set(marks.map(({ folder }) => folder))], work);
}

/** Of the process and not of a workspace: folders of bridges, worktrees and conversations can lie in each other. */
const MAKING = new Lanes();

async function mayExist(path: string): Promise<boolean> {
  try {
    await lstat(path);
    return true;
  } catch (error) {
    return !isSystemError(error, 'ENOENT', 'ENOTDIR');
  }
}
