/** Ends a program and all its processes: sends SIGTERM first, and SIGKILL after `killGraceMs`. */
import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { COMMAND_LIMITS } from '../../../shared/limits.ts';
import type { PidNamespaceUse } from './launch.ts';
import { TERMINAL_LIMITS } from './limits.ts';

/**
 * Ends the process group of `leader`. Returns when no process of the group is left, at once when none was left before;
 * in twice `killGraceMs` at the latest.
 *
 * A sandbox dies of SIGTERM together with its PID namespace, so the command inside would get no SIGTERM. With
 * `hasPidNamespace`, SIGTERM goes to the group inside and SIGKILL to the sandbox.
 */
export async function endProcessGroup(leader: number, use: PidNamespaceUse): Promise<void> {
  if (!isAlive(leader)) return;
  askToEnd(leader, use);
  const { groupPollMs } = TERMINAL_LIMITS;
  if (await endsInTime(() => isAlive(leader), groupPollMs)) return;
  signalGroup(leader, 'SIGKILL');
  await endsInTime(() => isAlive(leader), groupPollMs);
}

/** At once, and without waiting for their end. */
export function killProcessGroup(leader: number): void {
  signalGroup(leader, 'SIGKILL');
}

/** A process for good: once it has gone, the system can give its id to another, which began later. */
export interface Identity {
  readonly pid: number;
  /** When it began, in the kernel's ticks. */
  readonly began: string;
}

/** Undefined for a process that has gone. */
export function identify(pid: number): Identity | undefined {
  const state = stateOf(String(pid));
  return state && { pid, began: state.began };
}

/**
 * Ends a PID namespace whose program has gone. Resolves when all its processes have gone, in `killGraceMs` at the
 * latest. They die with the program, but some time later: `first`, process 1, dies last and is only sent a signal, and
 * not even that where the program was killed before the namespace was ready. Without a namespace there is no `first`.
 */
export async function endNamespace(first: Identity | undefined): Promise<void> {
  if (first === undefined) return;
  const isThere = () => identify(first.pid)?.began === first.began;
  if (!isThere()) return;
  signal(first.pid, 'SIGKILL');
  await endsInTime(isThere, TERMINAL_LIMITS.namespacePollMs);
}

/** False when something is alive after `killGraceMs`: nothing more can be done about a process that the kernel holds. */
async function endsInTime(isAlive: () => boolean, pollMs: number): Promise<boolean> {
  const deadline = performance.now() + COMMAND_LIMITS.killGraceMs;
  while (isAlive()) {
    if (performance.now() > deadline) return false;
    await sleep(pollMs);
  }
  return true;
}

function askToEnd(leader: number, { hasPidNamespace, isShared = false }: PidNamespaceUse): void {
  const inside = hasPidNamespace ? firstInside(leader, isShared) : undefined;
  if (inside === undefined) return void signalGroup(leader, 'SIGTERM');
  // While a sandbox is made, process 1 ignores SIGTERM, and would start the command even after the sandbox's end.
  const isMade = isShared || firstChildOf(inside) !== undefined;
  if (!isMade || !signalGroup(inside, 'SIGTERM')) signal(inside, 'SIGKILL');
}

/**
 * Process 1 of a namespace of the sandbox's own, or the first process of the command in a shared one. It leads the
 * command's session.
 */
function firstInside(leader: number, isShared: boolean): number | undefined {
  const first = firstChildOf(leader);
  return first !== undefined && isShared ? firstChildOf(first) : first;
}

/** The only child of bubblewrap, or of the program before it. */
function firstChildOf(pid: number): number | undefined {
  try {
    const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8');
    return children === '' ? undefined : Number.parseInt(children, 10);
  } catch {
    // The process has gone, or the kernel keeps no such list. Then the sandbox itself gets the signal.
    return undefined;
  }
}

/**
 * Whether any process of the group still runs. `kill` also finds dead processes until their parent has read their exit
 * code, and in many containers the first process is slow to do so.
 */
function isAlive(leader: number): boolean {
  if (!signalGroup(leader, 0)) return false;
  if (process.platform !== 'linux') return true;
  return readdirSync('/proc').some((name) => /^\d+$/.test(name) && stateOf(name)?.group === leader);
}

/** Of a process that lives: its group and its beginning, from proc_pid_stat(5). */
function stateOf(pid: string): { group: number; began: string } | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The name in parentheses can have spaces. The fields behind it are counted from 3.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    const [state, group, began = ''] = [fields[0], fields[5 - 3], fields[22 - 3]];
    return state === 'Z' || state === 'X' ? undefined : { group: Number(group), began };
  } catch {
    // The process has gone.
    return undefined;
  }
}

/** Whether the group had a process to signal. Signal 0 only tests that. */
function signalGroup(leader: number, name: NodeJS.Signals | 0): boolean {
  return signal(-leader, name);
}

function signal(pid: number, name: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(pid, name);
  } catch {
    // ESRCH: all have gone. EPERM: no process left is ours, for example after a change of user.
    return false;
  }
}
