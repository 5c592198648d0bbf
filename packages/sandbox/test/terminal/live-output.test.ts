import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { OUTPUT_LIMITS } from '../../../../shared/limits.ts';
import { LiveOutput } from '../../terminal/live-output.ts';

const { coalesceMs, coalesceChars, maxLiveChars } = OUTPUT_LIMITS;

describe('live output', () => {
  let pieces: string[];
  let live: LiveOutput;
  beforeEach(() => {
    vi.useFakeTimers();
    pieces = [];
    live = new LiveOutput((text) => pieces.push(text));
  });
  afterEach(() => vi.useRealTimers());

  test('what comes within the coalescing time is one piece', () => {
    live.append('a');
    live.append('b');
    vi.advanceTimersByTime(coalesceMs - 1);
    expect(pieces).toEqual([]);
    vi.advanceTimersByTime(1);
    live.append('c');
    vi.advanceTimersByTime(coalesceMs);
    expect(pieces).toEqual(['ab', 'c']);
  });

  test('a full piece goes at once', () => {
    live.append('x'.repeat(coalesceChars));
    expect(pieces).toEqual(['x'.repeat(coalesceChars)]);
  });

  test('the end sends what is waiting, and nothing after it', () => {
    live.append('last words');
    live.end();
    live.append('too late');
    live.end();
    vi.runAllTimers();
    expect(pieces).toEqual(['last words']);
  });

  test('past the bound comes a note, then nothing', () => {
    for (let sent = 0; sent < maxLiveChars; sent += coalesceChars) {
      live.append('x'.repeat(coalesceChars));
    }
    live.append('y');
    live.append('z');
    vi.runAllTimers();
    expect(pieces.join('')).toBe(
      `${'x'.repeat(maxLiveChars)}\n[... too much to show live; the result has the end ...]\n`,
    );
  });
});
