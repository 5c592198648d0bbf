/** Two things at once where neither outlives the other. */
import { newDeferred } from '../../machine/deferred.ts';

/**
 * Does `work` while `part` runs. When the work is over, however it ends, the part is told to end and waited for; when
 * the part fails, the work's signal aborts, and the part's failure is what is thrown.
 */
export async function beside<Result>(
  part: (signal: AbortSignal) => Promise<void>,
  work: (signal: AbortSignal) => Promise<Result>,
  signal: AbortSignal,
): Promise<Result> {
  const ending = new AbortController();
  const failing = new AbortController();
  const running = part(ending.signal).catch((error: unknown) => failing.abort(error));
  try {
    return await work(AbortSignal.any([signal, failing.signal]));
  } finally {
    ending.abort();
    await running;
    failing.signal.throwIfAborted();
  }
}

/** Rejects with the signal's reason once it aborts: the other side of a `Promise.race`. */
export function whenAborted(signal: AbortSignal): Promise<never> {
  const { promise, reject } = newDeferred<never>();
  // The race may be over by then; a loser's rejection is nobody's error.
  promise.catch(() => {});
  signal.addEventListener('abort', () => reject(signal.reason), { once: true });
  if (signal.aborted) reject(signal.reason);
  return promise;
}
