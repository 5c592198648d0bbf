/** Restarts a child process until a signal ends it. */

import type { ChildProcess } from 'node:child_process';
import { addAbortListener } from 'node:events';
import { keepAlive } from '../../machine/keep-alive.ts';
import { LocalError } from '../../machine/local-error.ts';
import { LOCAL_LIMITS } from '../limits.ts';

export interface Supervision {
  /** From SIGTERM to SIGKILL. */
  readonly graceMs: number;
  /** Called before a restart. `death` says how the child died, for example "exit code 1". */
  onRestart?(death: string): void;
  /** The child's own reason for its death, if it gave one: it says more than an exit code. */
  lastWords?(): string | undefined;
}

/**
 * Starts a child and restarts it whenever it dies: at once, then after longer and longer waits. Resolves after `signal`
 * has aborted and the child is gone; only processes that the child itself left behind can remain. A child must not
 * pass its pipes to its own children: it counts as alive until they are closed.
 * @throws {LocalError} if the child keeps dying.
 */
export async function supervise(
  name: string,
  start: () => ChildProcess | Promise<ChildProcess>,
  { graceMs, onRestart, lastWords }: Supervision,
  signal: AbortSignal,
): Promise<void> {
  const deaths: number[] = [];
  await keepAlive(async () => {
    const ended = await runToEnd(await start(), graceMs, signal);
    if (signal.aborted) return undefined;
    const death = lastWords?.() ?? ended;
    deaths.push(performance.now());
    const waitMs = restartWaitMs(deaths);
    if (waitMs === undefined) throw new LocalError('failed', `${name} keeps dying (${death}).`);
    onRestart?.(death);
    return waitMs;
  }, signal);
}

/** How many ms to wait after the last of these deaths (times in ms, ascending). Undefined in a crash loop. */
export function restartWaitMs(deaths: readonly number[]): number | undefined {
  const windowStart = (deaths.at(-1) ?? 0) - LOCAL_LIMITS.crashWindowMs;
  const recent = deaths.filter((time) => time > windowStart).length;
  if (recent >= LOCAL_LIMITS.maxCrashes) return undefined;
  return recent <= 1 ? 0 : LOCAL_LIMITS.restartMs * 2 ** (recent - 2);
}

/** Waits for the end of the child, and ends it once `signal` aborts. Resolves to how it ended. */
async function runToEnd(
  child: ChildProcess,
  graceMs: number,
  signal: AbortSignal,
): Promise<string> {
  let killing: NodeJS.Timeout | undefined;
  let failure: string | undefined;
  const end = () => {
    child.kill('SIGTERM');
    killing = setTimeout(() => child.kill('SIGKILL'), graceMs);
  };
  // The child cannot be started, or cannot get a message. 'close' follows as after any other end.
  child.on('error', (error) => {
    failure = error.message;
  });
  const closed = new Promise<string>((resolve) => {
    child.once('close', (code, signalName) => resolve(signalName ?? `exit code ${code}`));
  });
  using _ending = addAbortListener(signal, end);
  try {
    const death = await closed;
    return failure ?? death;
  } finally {
    clearTimeout(killing);
  }
}
