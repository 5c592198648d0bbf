/** Measures for how long the event loop stands still while a call runs. */

/**
 * How long the loop stood still during the work, in milliseconds, in the best of a few runs: others at work on the machine
 * hold a process up too. What is awaited before the work begins, such as its files, is not measured. The result of the
 * last run comes along.
 */
export async function shortestStandstill<Result>(
  prepare: () => Promise<() => Promise<Result>>,
): Promise<{ readonly result: Result; readonly standstillMs: number }> {
  let standstillMs = Number.POSITIVE_INFINITY;
  for (let run = 1; ; run++) {
    const { result, longestMs } = await beatDuring(await prepare());
    standstillMs = Math.min(standstillMs, longestMs);
    if (run === MOST_RUNS || standstillMs < GOOD_MS) return { result, standstillMs };
  }
}

async function beatDuring<Result>(
  work: () => Promise<Result>,
): Promise<{ readonly result: Result; readonly longestMs: number }> {
  let longestMs = 0;
  let last = performance.now();
  const beat = () => {
    const now = performance.now();
    longestMs = Math.max(longestMs, now - last - BEAT_MS);
    last = now;
  };
  const timer = setInterval(beat, BEAT_MS);
  try {
    const result = await work();
    beat();
    return { result, longestMs };
  } finally {
    clearInterval(timer);
  }
}

const BEAT_MS = 2;
const MOST_RUNS = 8;
/** What a further run could show would change no verdict. */
const GOOD_MS = 40;
