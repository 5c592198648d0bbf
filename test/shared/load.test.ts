import { beforeEach, expect, it, vi } from 'vitest';
import { coalesceMsAt, LOAD_LIMITS, LoopGauge, smoothed } from '../../shared/load.ts';

const { minCoalesceMs, maxCoalesceMs, easyMs, slope, probeMs } = LOAD_LIMITS;

beforeEach(() => {
  vi.useFakeTimers();
});

it.each([
  ['a loop that is not late', 0, minCoalesceMs],
  ['a loop as late as any', easyMs, minCoalesceMs],
  ['a loop that is late', easyMs + 5, 5 * slope],
  ['a loop that is very late', 1_000, maxCoalesceMs],
])('sends wait on %s: %d ms late, %d ms', (_, latenessMs, waitMs) => {
  expect(coalesceMsAt(latenessMs)).toBe(waitMs);
});

it('lets sends wait no shorter where the loop is later', () => {
  const waits = Array.from({ length: 100 }, (_, latenessMs) => coalesceMsAt(latenessMs));
  expect(waits).toEqual(waits.toSorted((a, b) => a - b));
});

it('believes a rise sooner than a fall', () => {
  const risen = smoothed(0, 40);
  expect(risen).toBe(20);
  expect(smoothed(risen, 0)).toBe(17.5);
});

it('takes a clock that was set for no lateness beyond measure', () => {
  expect(smoothed(0, -3_600_000)).toBe(0);
  expect(smoothed(0, 3_600_000)).toBe(LOAD_LIMITS.maxSampleMs * LOAD_LIMITS.riseShare);
});

it('measures by a timer that comes late, and comes back to ease by ones that do not', () => {
  const gauge = new LoopGauge();
  expect(gauge.isLate).toBe(false);
  measure(gauge, 60);
  expect(gauge.isLate).toBe(true);
  expect(gauge.coalesceMs).toBe(maxCoalesceMs);
  for (let round = 0; round < 30; round++) measure(gauge, 0);
  expect(gauge.isLate).toBe(false);
});

it('measures once in a while, however often it is asked to', () => {
  const gauge = new LoopGauge();
  for (let call = 0; call < 100; call++) gauge.probe();
  expect(vi.getTimerCount()).toBe(1);
});

/** One measurement with a timer that comes so late. */
function measure(gauge: LoopGauge, lateMs: number): void {
  vi.advanceTimersByTime(probeMs);
  gauge.probe();
  vi.setSystemTime(Date.now() + lateMs);
  vi.runAllTimers();
}
