/** Ends a program and all it started: asked first, killed when it does not listen. */
import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { COMMAND_LIMITS } from '../../shared/limits.ts';

/**
 * Ends the group that `leader` leads; returns when nothing of it is left. At once when nothing was left before.
 *
 * A sandbox dies of SIGTERM and takes its PID namespace with it, so the command inside would never be asked:
 * with `hasPidNamespace` the question goes to the group inside, and the kill to the sandbox.
 */
export async function endProcessGroup(
  leader: number,
  { hasPidNamespace }: { hasPidNamespace: boolean },
): Promise<void> {
  if (!isAlive(leader)) return;
  askToEnd(leader, hasPidNamespace);
  const deadline = performance.now() + COMMAND_LIMITS.killGraceMs;
  while (isAlive(leader) && performance.now() < deadline) {
    await sleep(COMMAND_LIMITS.groupPollMs);
  }
  signalGroup(leader, 'SIGKILL');
}

function askToEnd(leader: number, hasPidNamespace: boolean): void {
  const inside = hasPidNamespace ? firstChildOf(leader) : undefined;
  // A sandbox that is only just starting has nothing inside to ask.
  if (inside === undefined || !signalGroup(inside, 'SIGTERM')) signalGroup(leader, 'SIGTERM');
}

/** bubblewrap's only child is process 1 of the namespace; it leads the session the command runs in. */
function firstChildOf(pid: number): number | undefined {
  try {
    const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8');
    return children === '' ? undefined : Number.parseInt(children, 10);
  } catch {
    // The process is gone, or the kernel keeps no such list: then the sandbox itself is asked.
    return undefined;
  }
}

/**
 * Whether any process of the group still runs. Dead ones count for `kill` until their parent has asked for their exit
 * code, and the first process of many a container takes its time.
 */
function isAlive(leader: number): boolean {
  if (!signalGroup(leader, 0)) return false;
  if (process.platform !== 'linux') return true;
  return readdirSync('/proc').some((name) => /^\d+$/.test(name) && isLivingMember(name, leader));
}

/** By proc_pid_stat(5): after the name in parentheses come state, parent and group. */
function isLivingMember(pid: string, leader: number): boolean {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const [state, , group] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return Number(group) === leader && state !== 'Z' && state !== 'X';
  } catch {
    // Gone since it was listed.
    return false;
  }
}

/** Whether there was anyone to signal; 0 only asks that. */
function signalGroup(leader: number, signal: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(-leader, signal);
  } catch {
    // ESRCH: all gone. EPERM: nobody left that is ours, such as after a change of user.
    return false;
  }
}
