/** The limits of long computations. */
import { MINUTE, SECOND } from '../../shared/units.ts';

/** Long computations on the developer's machine. */
export const COMPUTE_LIMITS = {
  /**
   * Milliseconds for one task in the thread. The slowest known task on a file of the largest size takes a tenth of it.
   */
  maxMs: 10 * SECOND,
  /** Megabytes of the thread's heap: the largest file takes about half of it. */
  maxHeapMb: 1_024,
  /** Milliseconds without work until the thread ends, because it may hold much memory. A new one starts in 100 ms. */
  idleMs: MINUTE,
  /** About the longest that work in slices holds the event loop, in milliseconds: no person or socket notices it. */
  turnMs: 10,
} as const;
