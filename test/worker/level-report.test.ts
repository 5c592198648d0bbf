import { expect, it } from 'vitest';
import { LevelReport } from '../../worker/level-report.ts';

interface Level {
  readonly tea: number;
  readonly milk: boolean;
}

const AGAIN_MS = 5_000;

/** A report whose attempts the test answers. */
function open(heard: Partial<Level> = {}) {
  let present: Level = { tea: 1, milk: false };
  const attempts: { readonly level: Level; arrive(): void; fail(): void }[] = [];
  const send = (level: Level) => {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    attempts.push({ level, arrive: resolve, fail: () => reject(new Error('reset')) });
    return promise;
  };
  const report = new LevelReport<Level>({ present: () => present, send, againMs: AGAIN_MS }, heard);
  return {
    report,
    attempts,
    set: (change: Partial<Level>) => (present = { ...present, ...change }),
  };
}

it('a level of which the other object knows each part is not sent', async () => {
  const { report, attempts } = open({ tea: 1, milk: false });
  await report.report();
  expect(report.dueMs()).toBeNull();
  expect(attempts).toEqual([]);
});

it.each<[string, Partial<Level>]>([
  ['differs', { tea: 2, milk: false }],
  ['is unknown', { tea: 1 }],
])('a level of which one part %s is sent, and is due until it has arrived', async (_, heard) => {
  const { report, attempts } = open(heard);
  expect(report.dueMs()).toBe(0);
  const reported = report.report();
  expect(attempts.map(({ level }) => level)).toEqual([{ tea: 1, milk: false }]);
  expect(report.dueMs()).toBeGreaterThan(Date.now() + AGAIN_MS - 1_000);
  attempts[0]?.arrive();
  await reported;
  expect(report.dueMs()).toBeNull();
});

it('a level that changes under way is sent behind it, in the same report', async () => {
  const { report, attempts, set } = open();
  const first = report.report();
  set({ tea: 2 });
  const second = report.report();
  expect(attempts).toHaveLength(1);
  attempts[0]?.arrive();
  await expect.poll(() => attempts.length).toBe(2);
  expect(attempts[1]?.level).toEqual({ tea: 2, milk: false });
  attempts[1]?.arrive();
  await Promise.all([first, second]);
  expect(report.isHeard).toBe(true);
});

it('after a failure nothing is known, and the next report sends it again', async () => {
  const { report, attempts } = open({ tea: 0, milk: false });
  const lost = report.report();
  attempts[0]?.fail();
  await lost;
  expect(report.heard).toEqual({});
  expect(report.dueMs()).not.toBeNull();
  void report.report();
  expect(attempts).toHaveLength(2);
});

it('what another message has brought is not sent', async () => {
  const { report, attempts } = open({ tea: 1 });
  report.learn({ milk: false });
  await report.report();
  expect(attempts).toEqual([]);
});

it('a level that is heard is sent once where the caller wants it', async () => {
  const { report, attempts } = open({ tea: 1, milk: false });
  const reported = report.report(true);
  attempts[0]?.arrive();
  await reported;
  expect(attempts).toHaveLength(1);
});

it('a report that is stopped sends nothing more, and is not due', async () => {
  const { report, attempts, set } = open();
  const reported = report.report();
  set({ tea: 2 });
  report.stop();
  attempts[0]?.arrive();
  await reported;
  expect(attempts).toHaveLength(1);
  expect(report.dueMs()).toBeNull();
});
