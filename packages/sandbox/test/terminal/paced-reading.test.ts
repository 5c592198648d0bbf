import { Readable } from 'node:stream';
import { setImmediate } from 'node:timers/promises';
import { expect, test, vi } from 'vitest';
import { TERMINAL_LIMITS } from '../../terminal/limits.ts';
import { PacedReading } from '../../terminal/paced-reading.ts';

const { maxOutputCharsPerPause, outputPauseMs } = TERMINAL_LIMITS;

test('a program that never stops printing is read in parts, with a pause after each', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  const piece = 'y\n'.repeat(32_768);
  const endless = () => new Readable({ read: (): void => void streams.map((s) => s.push(piece)) });
  const streams: Readable[] = [];
  streams.push(endless(), endless());
  let taken = 0;
  new PacedReading(streams, (text) => {
    taken += text.length;
  });
  for (let part = 1; part <= 3; part++) {
    for (let turn = 0; turn < 200; turn++) await setImmediate();
    // Of both streams together; each piece under way comes whole.
    expect(taken).toBeGreaterThanOrEqual(part * maxOutputCharsPerPause);
    expect(taken).toBeLessThan(part * (maxOutputCharsPerPause + 8 * piece.length));
    expect(streams.map((stream) => stream.isPaused())).toEqual([true, true]);
    vi.advanceTimersByTime(outputPauseMs);
  }
  for (const stream of streams) stream.destroy();
});
