import { expect, test, vi } from 'vitest';
import { Progress } from './progress.ts';

test('the progress of a run has a line every ten seconds, also while one file takes long', () => {
  vi.useFakeTimers();
  try {
    let text = '';
    const progress = new Progress((words) => {
      text += words;
    });
    vi.stubEnv('PATH', '/nowhere');
    progress.onTestRunStart(new Array(3));
    expect(text).toMatch(/^3 files of tests; skipped: the sandbox \(bubblewrap\), .*\n$/);
    text = '';
    vi.advanceTimersByTime(30_000);
    expect(text).toBe([10, 20, 30].map((at) => `0 of 3 files, 0 tests, ${at} s\n`).join(''));
    progress.onTestRunEnd();
    text = '';
    vi.advanceTimersByTime(30_000);
    expect(text).toBe('');
  } finally {
    vi.useRealTimers();
    vi.unstubAllEnvs();
  }
});
