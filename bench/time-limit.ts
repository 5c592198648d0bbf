/** Ends a measurement that hangs, so that the whole always ends by itself. */
import { setTimeout as sleep } from 'node:timers/promises';

export const CASE_LIMITS = {
  /** The time of one case. The longest takes a minute on a quiet machine. */
  maxMs: 5 * 60_000,
  /** The time that a case has to end its processes after that. */
  graceMs: 20_000,
} as const;

/** The case has taken longer than its limit. `isEnded`: it has stopped what it started. */
export class TooLate extends Error {
  readonly isEnded: boolean;

  constructor(maxMs: number, isEnded: boolean) {
    super(`It was broken off after ${maxMs / 1_000} seconds.`);
    this.isEnded = isEnded;
  }
}

/** Does the work, whose signal aborts with the outer one or at the limit. @throws {TooLate} */
export async function withinLimit<Result>(
  work: (signal: AbortSignal) => Promise<Result>,
  outer: AbortSignal,
  { maxMs, graceMs }: { readonly maxMs: number; readonly graceMs: number } = CASE_LIMITS,
): Promise<Result> {
  const late = new AbortController();
  const over = new AbortController();
  const timer = setTimeout(() => late.abort(), maxMs);
  const working = work(AbortSignal.any([outer, late.signal]));
  try {
    return await Promise.race([working, givenUp()]);
  } catch (error) {
    if (!late.signal.aborted || error instanceof TooLate) throw error;
    throw new TooLate(maxMs, true);
  } finally {
    clearTimeout(timer);
    over.abort();
  }

  async function givenUp(): Promise<never> {
    await sleep(maxMs + graceMs, undefined, { signal: over.signal });
    throw new TooLate(maxMs, false);
  }
}
