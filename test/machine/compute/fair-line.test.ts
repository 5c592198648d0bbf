import { describe, expect, it } from 'vitest';
import { CONTENT_TASKS } from '../../../bridge/compute/tasks.ts';
import { FairLine } from '../../../machine/compute/fair-line.ts';
import type { TaskQuestion } from '../../../machine/compute/messages.ts';
import { computeFor } from '../../../machine/compute/owner.ts';
import { TaskRunner, type WorkPlace } from '../../../machine/compute/task-runner.ts';
import { newDeferred } from '../../../machine/deferred.ts';

const NEVER = new AbortController().signal;
const settled = () => new Promise((resolve) => setImmediate(resolve));

/** A line whose work is named in the order in which it begins, and ends when it is told to. */
function newLine(most?: number) {
  const line = new FairLine(most);
  const begun: string[] = [];
  const ends: (() => void)[] = [];
  const add = (name: string, signal = NEVER) => {
    const [owner = ''] = name;
    const work = async () => {
      begun.push(name);
      const { promise, resolve } = newDeferred<void>();
      ends.push(resolve);
      await promise;
      return name;
    };
    return line.run(owner, work, signal);
  };
  const drain = async () => {
    for (let at = 0; at < begun.length; at++) {
      ends[at]?.();
      await settled();
    }
    return begun.join(' ');
  };
  return { add, begun, ends, drain };
}

describe('a line', () => {
  it.each([
    ['a1 a2 a3 a4 a5 a6 b1', 'a1 b1 a2 a3 a4 a5 a6'],
    ['a1 b1 b2 b3 a2', 'a1 b1 a2 b2 b3'],
    ['a1 a2 a3 b1 b2 c1', 'a1 b1 c1 a2 b2 a3'],
    ['a1 a2 a3', 'a1 a2 a3'],
  ])('of %s runs %s', async (asked, ran) => {
    const { add, drain } = newLine();
    for (const name of asked.split(' ')) void add(name);
    expect(await drain()).toBe(ran);
  });

  it('runs work of so many owners at once, and of one a piece after the other', async () => {
    const { add, begun, ends, drain } = newLine(2);
    for (const name of ['a1', 'a2', 'b1', 'c1', 'b2']) void add(name);
    await settled();
    expect(begun).toEqual(['a1', 'b1']);
    ends[1]?.();
    await settled();
    expect(begun).toEqual(['a1', 'b1', 'c1']);
    expect(await drain()).toBe('a1 b1 c1 b2 a2');
  });

  it('loses who leaves, also in the instant of its turn, and holds up nobody', async () => {
    const { add, drain } = newLine();
    const [waiting, called] = [new AbortController(), new AbortController()];
    const results = [
      add('a1'),
      add('b1', waiting.signal),
      add('c1', called.signal).catch(() => 'left'),
      add('a2'),
    ];
    results[1] = (results[1] as Promise<string>).catch(() => 'left');
    waiting.abort();
    void results[0]?.then(() => called.abort());
    expect(await drain()).toMatch(/^a1 (?:c1 )?a2$/);
    expect(await results[1]).toBe('left');
    await expect(add('d1', waiting.signal)).rejects.toThrow();
    void add('e1');
    expect(await drain()).toMatch(/ e1$/);
  });

  it('goes on behind work that fails', async () => {
    const line = new FairLine();
    const failing = line.run('a', () => Promise.reject(new Error('no')), NEVER);
    const next = line.run('a', async () => 'next', NEVER);
    await expect(failing).rejects.toThrow('no');
    expect(await next).toBe('next');
  });
});

it('six tasks of one workspace do not hold up the one of another', async () => {
  const asked: unknown[] = [];
  const place: WorkPlace = {
    ask: ({ input }: TaskQuestion, { take }) => {
      asked.push(input);
      setImmediate(() => take({ state: 'done', output: null }));
      return { [Symbol.dispose]: () => {} };
    },
    isTooLarge: () => false,
    keepAlive: () => {},
    hasEnded: () => false,
    end: () => {},
  };
  const limits = { maxMs: 60_000, pollMs: 60_000, idleMs: 60_000 };
  const runner = new TaskRunner(async () => place, limits);
  const run = (name: string) =>
    runner.run(CONTENT_TASKS.readImage, name as never, NEVER).catch(() => null);
  const bombs = computeFor('one', () => Promise.all(['1', '2', '3', '4', '5', '6'].map(run)));
  const good = computeFor('other', async () => {
    await settled(); // What a workspace begins later is its own too.
    return await run('good');
  });
  await Promise.all([bombs, good]);
  expect(asked.indexOf('good')).toBeLessThan(3);
  expect(asked).toHaveLength(7);
});
