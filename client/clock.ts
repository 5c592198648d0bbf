/** The client's time and randomness. */

/** A test passes its own clock. */
export interface Clock {
  /** Resolves after `ms`; rejects with the signal's reason if the signal aborts first. */
  readonly sleep: (ms: number, signal: AbortSignal) => Promise<void>;
  /** From 0 to 1, like `Math.random`. */
  readonly random: () => number;
}

/** The clock of the machine. */
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
