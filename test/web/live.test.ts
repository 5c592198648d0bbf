import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { Live } from '../../web/live.ts';

/** Of a screen that shows 60 frames a second. */
const FRAME_MS = 1_000 / 60;

beforeEach(() => {
  vi.useFakeTimers();
  vi.stubGlobal('document', { hidden: false });
  vi.stubGlobal('requestAnimationFrame', (work: () => void) => setTimeout(work, FRAME_MS));
});
afterEach(() => {
  vi.unstubAllGlobals();
  vi.useRealTimers();
});

/** The times at which the key was shown, in milliseconds since now. */
function shownTimes(live: Live, key: string): readonly number[] {
  const startMs = Date.now();
  const times: number[] = [];
  live.listen(key, () => times.push(Date.now() - startMs));
  return times;
}

it('shows the first character of a text at once', async () => {
  const live = new Live();
  const times = shownTimes(live, 'text');
  live.grow('text');
  await vi.advanceTimersByTimeAsync(1_000);
  expect(times).toEqual([0]);
});

it('shows a text that streams some ten times a second, to its last character', async () => {
  const live = new Live();
  const times = shownTimes(live, 'text');
  for (let token = 0; token < 200; token++) {
    live.grow('text');
    await vi.advanceTimersByTimeAsync(10);
  }
  const lastMs = 1_990;
  await vi.advanceTimersByTimeAsync(1_000);
  const gaps = times.slice(1).map((time, at) => time - (times[at] ?? 0));
  expect(Math.min(...gaps)).toBeGreaterThanOrEqual(75);
  expect(Math.max(...gaps)).toBeLessThanOrEqual(125);
  expect(times.at(-1)).toBeGreaterThanOrEqual(lastMs);
});
