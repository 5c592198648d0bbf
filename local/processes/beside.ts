/** Runs two tasks at once so that neither outlives the other. */
import { newDeferred } from '../../machine/deferred.ts';

/** Runs `work` while `part` runs, and waits for both. A failure of `part` aborts `work`, and is thrown. */
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

/** Rejects with the signal's reason once it aborts; for a `Promise.race`. */
export function whenAborted(signal: AbortSignal): Promise<never> {
  const { promise, reject } = newDeferred<never>();
  // The race may be over by then; the rejection of the loser is not an error.
  promise.catch(() => {});
  signal.addEventListener('abort', () => reject(signal.reason), { once: true });
  if (signal.aborted) reject(signal.reason);
  return promise;
}
