import { expect, it } from 'vitest';
import { keepAlive, lookEvery } from '../../machine/keep-alive.ts';

const LONG_MS = 100_000;

it('makes one attempt after the other, until one says that there is no other', async () => {
  const waits = [0, 1, undefined];
  let attempts = 0;
  await keepAlive(async () => waits[attempts++], new AbortController().signal);
  expect(attempts).toBe(3);
});

it('waits as long as the last attempt says', async () => {
  const startedMs: number[] = [];
  const attempt = async () => (startedMs.push(performance.now()) === 1 ? 50 : undefined);
  await keepAlive(attempt, new AbortController().signal);
  const [first = 0, second = 0] = startedMs;
  expect(second - first).toBeGreaterThanOrEqual(49);
});

it('ends a wait when the signal aborts, and makes no other attempt', async () => {
  const ending = new AbortController();
  let attempts = 0;
  await keepAlive(async () => {
    attempts++;
    setTimeout(() => ending.abort());
    return LONG_MS;
  }, ending.signal);
  expect(attempts).toBe(1);
});

it.each([
  ['before the first attempt', 0],
  ['during an attempt', 1],
])('makes no further attempt after an abort %s', async (_, expected) => {
  const ending = new AbortController();
  if (expected === 0) ending.abort();
  let attempts = 0;
  await keepAlive(async () => {
    attempts++;
    ending.abort();
    return 0;
  }, ending.signal);
  expect(attempts).toBe(expected);
});

it('rejects with what an attempt throws', async () => {
  const refused = new Error('refused');
  const attempt = () => Promise.reject(refused);
  await expect(keepAlive(attempt, new AbortController().signal)).rejects.toBe(refused);
});

it('looks at once and again and again, never twice at a time', async () => {
  const ending = new AbortController();
  const seen: string[] = [];
  await lookEvery(
    1,
    async () => {
      seen.push('begins');
      await new Promise((resolve) => setTimeout(resolve, 5));
      seen.push('ends');
      if (seen.length === 6) ending.abort();
    },
    ending.signal,
  );
  expect(seen).toEqual(['begins', 'ends', 'begins', 'ends', 'begins', 'ends']);
});
