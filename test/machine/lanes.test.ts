import { expect, test } from 'vitest';
import { Lanes } from '../../machine/lanes.ts';

/** Work that notes when it begins, and ends when the test says so. */
function newWork(name: string, log: string[]) {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const work = () => {
    log.push(name);
    return promise;
  };
  return { work, end: () => resolve(name), fail: () => reject(new Error(name)) };
}

const never = () => Promise.reject(new Error('no work'));

/** When everything that can go on by itself has done so. */
const settle = () => new Promise((resolve) => setImmediate(resolve));

test.each<[string, readonly string[], readonly string[], string[]]>([
  ['one lane runs one after the other', ['/a'], ['/a'], ['first']],
  ['two lanes runs side by side', ['/a'], ['/b'], ['first', 'second']],
  ['no lane runs side by side', [], [], ['first', 'second']],
  ['several lanes waits for each of them', ['/a', '/b'], ['/c', '/b'], ['first']],
  ['two lanes in another order waits once', ['/a', '/b'], ['/b', '/a'], ['first']],
])('work in %s', async (_, laneOfFirst, laneOfSecond, atOnce) => {
  const lanes = new Lanes();
  const log: string[] = [];
  const [first, second] = [newWork('first', log), newWork('second', log)];
  const runs = [lanes.run(laneOfFirst, first.work), lanes.run(laneOfSecond, second.work)];
  await settle();
  expect(log).toEqual(atOnce);
  first.end();
  second.end();
  expect(await Promise.all(runs)).toEqual(['first', 'second']);
  expect(log).toEqual(['first', 'second']);
});

test('work that fails rejects by itself, and frees its lane', async () => {
  const lanes = new Lanes();
  const log: string[] = [];
  const [first, second] = [newWork('first', log), newWork('second', log)];
  const runs = [lanes.run(['/a'], first.work), lanes.run(['/a'], second.work)];
  first.fail();
  second.end();
  expect(await Promise.allSettled(runs)).toEqual([
    { status: 'rejected', reason: new Error('first') },
    { status: 'fulfilled', value: 'second' },
  ]);
});

test('work whose signal aborts while it waits ends at once, never begins, and keeps the order', async () => {
  const lanes = new Lanes();
  const log: string[] = [];
  const works = ['1', '2', '3'].map((name) => newWork(name, log));
  const [first, second, third] = works;
  const ending = new AbortController();
  const runs = [lanes.run(['/a'], first?.work ?? never)];
  const left = lanes.run(['/a'], second?.work ?? never, ending.signal);
  runs.push(lanes.run(['/a'], third?.work ?? never));
  ending.abort(new Error('left'));
  await expect(left).rejects.toThrow('left');
  await settle();
  expect(log).toEqual(['1']);
  for (const { end } of works) end();
  await Promise.all(runs);
  expect(log).toEqual(['1', '3']);
});

test('work whose signal has aborted before it comes ends at once, also behind other work', async () => {
  const lanes = new Lanes();
  const log: string[] = [];
  const [first, second] = [newWork('first', log), newWork('second', log)];
  const run = lanes.run(['/a'], first.work);
  const aborted = AbortSignal.abort(new Error('left'));
  const states: string[] = [];
  lanes.run(['/a'], second.work, aborted).catch(({ message }) => states.push(message));
  await settle();
  expect(states).toEqual(['left']);
  first.end();
  await run;
  expect(log).toEqual(['first']);
});

test('a lane keeps the order of arrival, also for work that comes meanwhile', async () => {
  const lanes = new Lanes();
  const log: string[] = [];
  const works = ['1', '2', '3', '4'].map((name) => newWork(name, log));
  const runs = works.slice(0, 3).map(({ work }) => lanes.run(['/a'], work));
  works[0]?.end();
  await runs[0];
  runs.push(...works.slice(3).map(({ work }) => lanes.run(['/a'], work)));
  for (const { end } of works.toReversed()) end();
  await Promise.all(runs);
  expect(log).toEqual(['1', '2', '3', '4']);
});
