import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test, vi } from 'vitest';
import { releaseMemorySoon } from '../../../local/processes/memory.ts';

test('what a start leaves behind is collected once it has settled', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout'] });
  const left = new WeakRef(new Array(1000).fill('left by a start'));
  releaseMemorySoon();
  vi.advanceTimersByTime(2000);
  await sleep(1);
  expect(left.deref()).toBeDefined();
  // A reference that was looked at lives until the end of its task.
  await sleep(1);
  vi.advanceTimersByTime(2000);
  vi.useRealTimers();
  expect(left.deref()).toBeUndefined();
});
