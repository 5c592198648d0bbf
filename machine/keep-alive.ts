/** Keeps something up, or looks at it again and again, until a signal aborts. */
import { setTimeout as sleep } from 'node:timers/promises';

/**
 * Makes one attempt after the other. `attempt` resolves when what it started has ended, with the milliseconds until the
 * next one; with undefined where there is to be no other. Resolves then, or at the abort; rejects as an attempt does.
 */
export async function keepAlive(
  attempt: () => Promise<number | undefined>,
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    const waitMs = await attempt();
    if (waitMs === undefined) return;
    await sleep(waitMs, undefined, { signal }).catch(() => {}); // The signal has aborted.
  }
}

/** Calls `look` now, and `ms` after the end of each call. */
export async function lookEvery(
  ms: number,
  look: () => void | Promise<void>,
  signal: AbortSignal,
): Promise<void> {
  const attempt = async () => {
    await look();
    return ms;
  };
  await keepAlive(attempt, signal);
}
