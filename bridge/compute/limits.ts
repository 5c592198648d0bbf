/** The limits of long computations. */

const SECOND = 1000;
const MINUTE = 60 * SECOND;

/** Long computations on the developer's machine. */
export const COMPUTE_LIMITS = {
  /** For one in the thread; the worst that was found, in a file of the largest size, takes a tenth of it. */
  maxMs: 10 * SECOND,
  /** Megabytes of the thread's heap: the largest file takes about half of it. */
  maxHeapMb: 1_024,
  /** A thread without work for this long is ended, for it may hold much memory; a new one starts in a tenth of a second. */
  idleMs: MINUTE,
  /** The longest that a work in slices holds the loop up, about: nothing that a person or a socket notices. */
  turnMs: 10,
} as const;
