/** Measures for how long a call keeps the event loop from everything else. */

/**
 * What a call may take of the loop at a time, in milliseconds of CPU. On the calling thread each of the tests' calls
 * took seconds; a machine at half the speed of a good one takes 170 ms for the largest notebook's text.
 */
export const MOST_STANDSTILL_MS = 500;

/**
 * The longest turn of the event loop during the work: milliseconds of CPU that the loop's thread used between two
 * heartbeats, in the best of a few runs. CPU, not time: other programs on the machine hold the process up too. What is
 * awaited before the work begins, such as its files, is not measured. The result of the last run comes along.
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
  let last = threadCpuMs();
  const beat = () => {
    const now = threadCpuMs();
    longestMs = Math.max(longestMs, now - last);
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

/** Of this thread alone: the thread of long computations does not count. */
function threadCpuMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1_000;
}

const BEAT_MS = 2;
const MOST_RUNS = 5;
/** What a further run could show would change no verdict. */
const GOOD_MS = 100;
