/** A clock that the test sets while everything else goes on. */
import { vi } from 'vitest';

export interface ShiftedClock {
  /** How far `Date.now` is ahead of the real time, in milliseconds; timers and alarms keep to the real one. */
  aheadMs: number;
}

/** Stays until mocks are restored. */
export function shiftClock(aheadMs = 0): ShiftedClock {
  const clock = { aheadMs };
  const now = Date.now.bind(Date);
  vi.spyOn(Date, 'now').mockImplementation(() => now() + clock.aheadMs);
  return clock;
}
