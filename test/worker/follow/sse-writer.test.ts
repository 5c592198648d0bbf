import { expect, it, vi } from 'vitest';
import { FOLLOW_LIMITS } from '../../../worker/follow/limits.ts';
import { SseWriter } from '../../../worker/follow/sse-writer.ts';
import { quicken } from './watching.ts';

const MUCH = 1_000_000;
const TAKEN_AT_ONCE = 20_000;

it('a reader that slowly takes much has not stalled, until it takes nothing more', async () => {
  let nowMs = Date.now();
  vi.spyOn(Date, 'now').mockImplementation(() => nowMs);
  const writer = new SseWriter();
  writer.write('x'.repeat(MUCH));
  const reader = writer.readable.getReader({ mode: 'byob' });
  const stalled: number[] = [];
  for (let taken = 0; taken < MUCH / 2; ) {
    nowMs += 2_000;
    const { value } = await reader.read(new Uint8Array(TAKEN_AT_ONCE));
    taken += value?.byteLength ?? 0;
    await scheduler.wait(0); // The writer's turn.
    stalled.push(writer.stalledForMs);
  }
  expect(Math.max(...stalled)).toBeLessThan(FOLLOW_LIMITS.stalledMs);
  nowMs += 2 * FOLLOW_LIMITS.stalledMs;
  expect(writer.stalledForMs).toBeGreaterThan(FOLLOW_LIMITS.stalledMs);
  await reader.cancel();
});

it('writes what is longer than a piece whole and in order', async () => {
  const writer = new SseWriter();
  const text = Array.from({ length: 60_000 }, (_, index) => `語${index}\n`).join('');
  writer.write(text.slice(0, 100));
  writer.write(text.slice(100));
  const [read] = await Promise.all([
    new Response(writer.readable).text(),
    writer.end(new AbortController().signal),
  ]);
  expect(read === text).toBe(true);
});

it('gives up a connected reader that takes nothing more', async () => {
  let nowMs = Date.now();
  vi.spyOn(Date, 'now').mockImplementation(() => {
    nowMs += FOLLOW_LIMITS.heartbeatMs;
    return nowMs;
  });
  const timers = quicken({ [FOLLOW_LIMITS.heartbeatMs]: 5 });
  const writer = new SseWriter();
  writer.write('x'.repeat(MUCH));
  await writer.end(new AbortController().signal);
  expect(timers.count).toBe(0);
  await expect(new Response(writer.readable).text()).rejects.toThrow();
});

it('gives up a reader that leaves while the rest is written', async () => {
  const writer = new SseWriter();
  writer.write('x'.repeat(MUCH));
  const leaving = new AbortController();
  const ended = writer.end(leaving.signal);
  leaving.abort();
  await ended;
  await expect(new Response(writer.readable).text()).rejects.toThrow();
});
