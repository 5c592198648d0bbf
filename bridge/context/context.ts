/** The facts about this machine and its workspace for the prompt. */
import { type as osType, release } from 'node:os';
import { basename } from 'node:path';
import { CONTEXT_LIMITS } from '../../shared/limits.ts';
import type { MachineContext } from '../../shared/wire/tunnel.ts';
import { compute } from '../compute/compute.ts';
import { filterInTurns } from '../compute/turns.ts';
import { listFiles } from '../search/file-list.ts';
import type { IgnoreRules } from '../search/ignore-files.ts';
import { SHELL } from '../terminal/launch.ts';
import { readGitStatus, type StatusLook } from './git-status.ts';

export interface ContextLook extends StatusLook {
  /** The workspace's ignore rules, where others need them too. */
  readonly ignored?: Promise<IgnoreRules>;
}

/** Reads the workspace's present state. Lists files for at most CONTEXT_LIMITS.lookTimeoutMs. */
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
  { mayName = () => true, ignored }: ContextLook,
): Promise<string> {
  const timeUp = AbortSignal.timeout(CONTEXT_LIMITS.lookTimeoutMs);
  const either = AbortSignal.any([signal, timeUp]);
  try {
    const rules = await ignored;
    const listed = await listFiles({ folder: root, signal: either, ...(rules && { rules }) });
    const files = await filterInTurns(listed, mayName);
    return await compute('formatLayout', files.join('\0'), either);
  } catch {
    signal.throwIfAborted();
    return ''; // The folder cannot be listed in time. The tools will say why when they are used.
  }
}
