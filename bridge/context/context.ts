/** The facts about this machine and its workspace for the prompt. */

import { type as osType, release } from 'node:os';
import { basename } from 'node:path';
import { compute } from '../../machine/compute/compute.ts';
import { filterInTurns } from '../../machine/compute/turns.ts';
import { listInTime } from '../../packages/code-index/index.ts';
import { SHELL } from '../../packages/sandbox/index.ts';
import type { MachineContext } from '../../shared/wire/tunnel.ts';
import { CONTENT_TASKS } from '../compute/tasks.ts';
import { readGitStatus, type StatusLook } from './git-status.ts';

export interface ContextLook extends StatusLook {
  /** The result of {@link listInTime}, where others need it too. */
  readonly listed?: Promise<readonly string[]>;
}

/** Reads the workspace's present state. */
export async function readMachineContext(
  root: string,
  signal: AbortSignal,
  look: ContextLook = {},
): Promise<MachineContext> {
  const [projectLayout, gitStatus] = await Promise.all([
    readLayout(root, signal, look),
    readGitStatus(root, signal, look),
  ]);
  return {
    os: `${osType()} ${release()}`,
    shell: basename(SHELL),
    workspacePath: root,
    projectLayout,
    ...(gitStatus !== undefined && { gitStatus }),
  };
}

/** The tree of the files, within its bounds; empty where the folder cannot be listed in time. */
export async function readLayout(
  root: string,
  signal: AbortSignal,
  { mayName = () => true, listed = listInTime(root, signal) }: ContextLook,
): Promise<string> {
  try {
    const [names, isNameable] = await Promise.all([listed, mayName]);
    const files = await filterInTurns(names, (name) => !HIDDEN.test(name) && isNameable(name));
    return await compute(CONTENT_TASKS.formatLayout, files.join('\0'), signal);
  } catch {
    signal.throwIfAborted();
    return ''; // The folder cannot be listed in time. The tools will say why when they are used.
  }
}

/** A file with a name that begins with a dot, or in such a folder. */
const HIDDEN = /(?:^|\/)\./;
