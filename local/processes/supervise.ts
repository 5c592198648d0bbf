/** Keeps a child process alive until it is told to end. */
import type { ChildProcess } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { LocalError } from '../../machine/local-error.ts';
import { LOCAL_LIMITS } from '../limits.ts';

export interface Supervision {
  /** From SIGTERM to SIGKILL. */
  readonly graceMs: number;
  /** The child died and is about to be started again; `death` says how, as in "exit code 1". */
  onRestart?(death: string): void;
  /** What the child itself said of its death, where it did: it says more than an exit code. */
  lastWords?(): string | undefined;
}

/**
 * Starts a child, and starts it again whenever it dies: at once, then after ever longer waits. Resolves after `signal`
 * has aborted and the child is gone; nothing is left then but what the child itself has left. A child must not hand its
 * pipes to children of its own, since it counts as alive until they are closed.
 * @throws {LocalError} if it dies again and again.
 */
export async function supervise(
  name: string,
  start: () => ChildProcess | Promise<ChildProcess>,
  { graceMs, onRestart, lastWords }: Supervision,
  signal: AbortSignal,
): Promise<void> {
  const deaths: number[] = [];
  while (!signal.aborted) {
    const ended = await runToEnd(await start(), graceMs, signal);
    if (signal.aborted) return;
    const death = lastWords?.() ?? ended;
    deaths.push(performance.now());
    const waitMs = restartWaitMs(deaths);
    if (waitMs === undefined) throw new LocalError('failed', `${name} keeps dying (${death}).`);
    onRestart?.(death);
    await sleep(waitMs, undefined, { signal }).catch(ignoreAbort);
  }
}

/** How long to wait after the last of these deaths (times in ms, ascending). Undefined: this is a crash loop. */
export function restartWaitMs(deaths: readonly number[]): number | undefined {
  const windowStart = (deaths.at(-1) ?? 0) - LOCAL_LIMITS.crashWindowMs;
  const recent = deaths.filter((time) => time > windowStart).length;
  if (recent >= LOCAL_LIMITS.maxCrashes) return undefined;
  return recent <= 1 ? 0 : LOCAL_LIMITS.restartMs * 2 ** (recent - 2);
}

/** Waits until the child is gone, which it is made to be once `signal` aborts. Says how it ended. */
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
  // A child that cannot be started, or not be sent a message. It is followed by 'close' like any other end.
  child.on('error', (error) => {
    failure = error.message;
  });
  const closed = new Promise<string>((resolve) => {
    child.once('close', (code, signalName) => resolve(signalName ?? `exit code ${code}`));
  });
  if (signal.aborted) end();
  signal.addEventListener('abort', end);
  try {
    const death = await closed;
    return failure ?? death;
  } finally {
    signal.removeEventListener('abort', end);
    clearTimeout(killing);
  }
}

/** The loop's condition sees the abort; there is nothing else to do about it. */
function ignoreAbort(): void {}
