/** A clock without time: waits are over at once, silence comes when the test says so. */
import type { Clock } from '../../client/clock.ts';
import { CLIENT_LIMITS } from '../../client/limits.ts';

export interface TestClock extends Clock {
  /** The waits between connections, in milliseconds. */
  readonly waitsMs: number[];
  /** Lets the silence of whatever is read now, or next, be over the limit. */
  fallSilent(): void;
}

/** Chance is 1 unless given, so that waits are the full back-off. */
export function createTestClock(random = 1): TestClock {
  const waitsMs: number[] = [];
  let silence = Promise.withResolvers<void>();
  return {
    waitsMs,
    random: () => random,
    sleep(ms, signal) {
      if (ms === CLIENT_LIMITS.silentMs) return silence.promise;
      waitsMs.push(ms);
      return signal.aborted ? Promise.reject(signal.reason) : Promise.resolve();
    },
    fallSilent() {
      silence.resolve();
      silence = Promise.withResolvers();
    },
  };
}
