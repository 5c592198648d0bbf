import { expect, it } from 'vitest';
import { systemClock } from '../../client/clock.ts';
import { readFrames } from '../../client/sse.ts';

async function dataOf(stream: string): Promise<unknown[]> {
  const body = new Blob([stream]).stream();
  const read = (_: string, data: unknown) => ({ type: 'unknown' as const, name: '', data });
  const signal = new AbortController().signal;
  const all: unknown[] = [];
  for await (const { event } of readFrames(body, { read, clock: systemClock, signal }))
    all.push(Object(event).data);
  return all;
}

it('one byte order mark begins a stream, and a second one is part of a name', async () => {
  expect(await dataOf('\uFEFFdata: 1\n\ndata: 2\n\n')).toEqual([1, 2]);
  expect(await dataOf('\uFEFF\uFEFFdata: 1\n\ndata: 2\n\n')).toEqual([2]);
  expect(await dataOf('data: 1\n\n\uFEFFdata: 2\n\ndata: 3\n\n')).toEqual([1, 3]);
});
