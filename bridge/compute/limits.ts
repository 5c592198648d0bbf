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
  /**
   * Megabytes by which the process may grow during a task: the heap's limit does not count bytes outside of it, of which
   * a PDF of 1 MB can unpack 1 GB. Checked this often, in milliseconds: a page unpacks some 50 MB meanwhile.
   */
  maxGrowthMb: 1_536,
  growthPollMs: 100,
  /** Milliseconds without work until the thread ends, because it may hold much memory. A new one starts in 100 ms. */
  idleMs: MINUTE,
  /** About the longest that work in slices holds the event loop, in milliseconds: no person or socket notices it. */
  turnMs: 10,
} as const;

/** Reading a PDF. */
export const PDF_LIMITS = {
  /** Pages of one read: the text of some 20 fills a result, and each takes some 10 ms. */
  maxPages: 50,
} as const;
