/** The facts about this machine and its workspace for the prompt. */
import { type as osType, release } from 'node:os';
import { basename } from 'node:path';
import { CONTEXT_LIMITS } from '../../shared/limits.ts';
import type { MachineContext } from '../../shared/tunnel.ts';
import { compute } from '../compute/compute.ts';
import { filterInTurns } from '../compute/turns.ts';
import { listFiles } from '../search/file-list.ts';
import { SHELL } from '../terminal/launch.ts';
import { readGitStatus, type StatusLook } from './git-status.ts';

/** Reads the workspace's present state. Lists files for at most CONTEXT_LIMITS.lookTimeoutMs. */
export async function readMachineContext(
  root: string,
  signal: AbortSignal,
  look: StatusLook = {},
): Promise<MachineContext> {
  const [projectLayout, gitStatus] = await Promise.all([
    readLayout(root, signal, look.mayName),
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

async function readLayout(
  root: string,
  signal: AbortSignal,
  mayName: (name: string) => boolean = () => true,
): Promise<string> {
  const timeUp = AbortSignal.timeout(CONTEXT_LIMITS.lookTimeoutMs);
  const either = AbortSignal.any([signal, timeUp]);
  try {
    const files = await filterInTurns(await listFiles({ folder: root, signal: either }), mayName);
    return await compute('formatLayout', files.join('\0'), either);
  } catch {
    signal.throwIfAborted();
    return ''; // The folder cannot be listed in time. The tools will say why when they are used.
  }
}
