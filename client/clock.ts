/** Waiting, as something that can be passed in. */

/** Time and chance as the client sees them; a test passes its own. */
export interface Clock {
  /** Resolves after `ms`; rejects with the signal's reason when that comes first. */
  readonly sleep: (ms: number, signal: AbortSignal) => Promise<void>;
  /** From 0 to 1, as `Math.random`. */
  readonly random: () => number;
}

/** The real one. */
export const systemClock: Clock = { sleep, random: Math.random };

function sleep(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) return reject(signal.reason);
    const onAbort = () => {
      clearTimeout(timer);
      reject(signal.reason);
    };
    const timer = setTimeout(() => {
      signal.removeEventListener('abort', onAbort);
      resolve();
    }, ms);
    signal.addEventListener('abort', onAbort, { once: true });
  });
}
