/** A command that waits inside its sandbox until its mounts have been checked. */
import { setTimeout as sleep } from 'node:timers/promises';
import { ToolFailure } from '../../../machine/failure.ts';
import { inOneLine } from '../../../shared/text/plain-sight.ts';
import { SANDBOX_LIMITS } from '../limits.ts';
import { type Checked, isAsChecked } from './base.ts';
import { descendants } from './freeze.ts';
import { readMounts } from './holder.ts';

/** The first work of the shell: it stops itself. A stopped shell means that all mounts are made. */
export const HOLD = 'kill -STOP $$; ';

/**
 * Lets a command continue when its mounts are as they must be and all other commands stayed stopped. Else kills it and
 * throws a ToolFailure. `launched` is the process that was started for the command. A process that ended by itself
 * is left alone: its own output says why.
 */
export async function releaseHeld(
  launched: number,
  checked: Checked,
  awake: () => readonly number[],
): Promise<void> {
  const deadline = performance.now() + SANDBOX_LIMITS.baseMs;
  while (performance.now() < deadline) {
    const family = descendants(launched);
    const last = family.at(-1);
    if (last === undefined && !isAlive(launched)) return;
    if (last?.isStopped === true && family.length >= FAMILY_SIZE) {
      const { pid } = last;
      const isRight = isAsChecked({ pid, mounts: () => readMounts(pid) }, checked);
      if (!isRight || awake().length > 0) break;
      process.kill(pid, 'SIGCONT');
      return;
    }
    await sleep(1);
  }
  if (isAlive(launched)) process.kill(launched, 'SIGKILL');
  throw failed(undefined);
}

/** Below bubblewrap: the first process of its namespace, and the shell. */
const FAMILY_SIZE = 2;

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false; // The process has gone, and Node has noticed.
  }
}

/** The failure that says that nothing was run, and why. */
export function failed(cause: unknown): ToolFailure {
  const said = cause instanceof Error ? inOneLine(cause.message.split('\n')[0] ?? '') : undefined;
  return new ToolFailure(
    'SANDBOX_FAILED',
    `The sandbox could not be made, so the command was not run (${said ?? 'the workspace keeps changing'}): repeat it, ` +
      'and report it to the person if it fails again.',
    { cause },
  );
}
