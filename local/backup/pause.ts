/** Stops the processes that write to a state, all at one moment, and lets them go on. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { LocalError } from '../../machine/local-error.ts';
import { printedAtOnceBy, psOf } from '../../machine/printed.ts';
import { isSystemError } from '../../machine/system-error.ts';
import { LOCAL_LIMITS } from '../limits.ts';

/**
 * Stops the processes until the result is disposed of, or until this process ends in any way. They stop one after the
 * other; that is one moment all the same, because a process that stands sends nothing to those that still run.
 * @throws {LocalError} if they do not stop.
 */
export async function stopProcesses(pids: readonly number[]): Promise<Disposable> {
  if (pids.length === 0) return { [Symbol.dispose]: () => {} };
  const guard = await guardedBy(pids);
  const stopped = {
    [Symbol.dispose]: () => {
      for (const pid of pids) signal(pid, 'SIGCONT');
      guard.kill();
    },
  };
  try {
    for (const pid of pids) signal(pid, 'SIGSTOP');
    await untilAllStand(pids);
    return stopped;
  } catch (error) {
    stopped[Symbol.dispose]();
    throw error;
  }
}

/** The direct children of a process, by what the system lists. */
export function childrenOf(parent: number): number[] {
  if (process.platform !== 'linux') {
    const { output } = printedAtOnceBy(['/bin/ps', '-axo', 'pid=,ppid=']);
    const pairs = output.split('\n').map((line) => line.trim().split(/\s+/).map(Number));
    return pairs.flatMap(([pid, of]) => (of === parent && pid !== undefined ? [pid] : []));
  }
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  return pids.filter((pid) => statOf(`/proc/${pid}/stat`)?.parent === parent).map(Number);
}

/** A shell that wakes the processes when a pipe ends that only this process holds: also if this process is killed. */
async function guardedBy(pids: readonly number[]): Promise<{ kill(): void }> {
  const script = 'read -r _; kill -CONT "$@" 2>/dev/null';
  const guard = spawn('/bin/sh', ['-c', script, 'drawbridge-resume', ...pids.map(String)], {
    stdio: ['pipe', 'ignore', 'ignore'],
    detached: true,
  });
  guard.stdin.on('error', () => {}); // It was killed: this process still wakes them.
  await once(guard, 'spawn');
  // Not by the pipe's end: it could come to wake them only in the middle of the next backup.
  return { kill: () => void guard.kill('SIGKILL') };
}

function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch {
    // It is gone: then it writes nothing either.
  }
}

/** A signal takes a moment: each thread ends its present call to the system first. */
async function untilAllStand(pids: readonly number[]): Promise<void> {
  const deadline = performance.now() + LOCAL_LIMITS.stopMs;
  while (!pids.every(stands)) {
    if (performance.now() > deadline) {
      throw new LocalError(
        'failed',
        'The server could not be paused: try again when its disk is less busy.',
      );
    }
    await sleep(1);
  }
}

function stands(pid: number): boolean {
  if (process.platform !== 'linux') {
    return !/^[^TZ]/.test(psOf('state', pid));
  }
  const threads = ifThere(() => readdirSync(`/proc/${pid}/task`)) ?? [];
  return threads.every((thread) => {
    const state = statOf(`/proc/${pid}/task/${thread}/stat`)?.state;
    return state === undefined || STANDING.has(state);
  });
}

/** Stopped, traced, or dead (proc_pid_stat(5)). */
const STANDING = new Set(['T', 't', 'Z', 'X']);

function statOf(path: string): { readonly state: string; readonly parent: number } | undefined {
  return ifThere(() => {
    const text = readFileSync(path, 'utf8');
    const [state = '', parent] = text.slice(text.lastIndexOf(')') + 2).split(' ');
    return { state, parent: Number(parent) };
  });
}

/** Undefined for a process that is gone. What cannot be read for another reason may run. */
function ifThere<Seen>(look: () => Seen): Seen | undefined {
  try {
    return look();
  } catch (error) {
    if (isSystemError(error, 'ENOENT', 'ESRCH')) return undefined;
    throw error;
  }
}
