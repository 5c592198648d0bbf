/** The clock that all processes of a run share. */

/**
 * Milliseconds with a fraction since a moment that is the same for every process of this machine: the monotonic clock
 * of Linux and macOS. `performance.now()` counts from each process's own start, and the wall clock can jump.
 */
export function nowMs(): number {
  return Number(process.hrtime.bigint()) / NANOSECONDS;
}

const NANOSECONDS = 1e6;
