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
   * Megabytes by which the process may grow during a task of the thread: the heap's limit does not count bytes outside of
   * it. Checked this often, in milliseconds.
   */
  maxGrowthMb: 1_536,
  growthPollMs: 100,
  /** Milliseconds without work until the thread ends, because it may hold much memory. A new one starts in 100 ms. */
  idleMs: MINUTE,
  /** About the longest that work in slices holds the event loop, in milliseconds: no person or socket notices it. */
  turnMs: 10,
} as const;

/** The processes that read documents. */
export const DOCUMENT_LIMITS = {
  /** Processes at once, each for another workspace: one that reads a bomb for ten seconds holds up no other folder. */
  places: 3,
  /** Megabytes that it may have in memory: it begins with 100, and a PDF of 20 MB takes less than 100 more. */
  maxResidentMb: 300,
  /** Milliseconds between two looks at that: a stream unpacks some 20 MB meanwhile. */
  pollMs: 20,
  /** Megabytes by which its data may grow, where the kernel counts them: it sees an allocation before it is made. */
  maxGrowthMb: 300,
  /** Megabytes of its heap: the largest notebook that people have made takes half of it. */
  maxHeapMb: 192,
  /** Milliseconds until it is there. A cold disk takes two seconds. */
  startMs: 15 * SECOND,
  /** Milliseconds for the programs that prepare it, which take five. */
  prepareMs: 5 * SECOND,
} as const;
