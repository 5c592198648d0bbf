import { env, runInDurableObject } from 'cloudflare:test';
import { describe, expect, it } from 'vitest';
import { Schedule } from '../../../worker/conversation/deadlines.ts';
import { RowMeter } from '../../../worker/storage/row-meter.ts';

const FAR = 4_000_000_000_000;

describe('the alarm stands at the earliest moment that was asked for', () => {
  it.each<[string, readonly number[]]>([
    ['the nearer one first', [FAR, FAR + 1000]],
    ['the nearer one last', [FAR + 1000, FAR]],
    ['one between', [FAR + 500, FAR, FAR + 1000]],
  ])('when several ask at the same time, %s', async (_, moments) => {
    expect(
      await alarmAfter((schedule) => Promise.all(moments.map((at) => schedule.ensure(at)))),
    ).toBe(FAR);
  });

  it('when several ask at the same time after it fired', async () => {
    const at = await alarmAfter(async (schedule, storage) => {
      await schedule.ensure(FAR - 1000);
      await storage.deleteAlarm();
      schedule.fired();
      await Promise.all([schedule.ensure(FAR), schedule.ensure(FAR + 1000)]);
    });
    expect(at).toBe(FAR);
  });

  it('also when an earlier instance of the object had asked', async () => {
    const at = await alarmAfter(async (schedule, storage) => {
      await new Schedule(storage, new RowMeter(), true).ensure(FAR);
      await schedule.ensure(FAR + 1000);
    });
    expect(at).toBe(FAR);
  });
});

it('sets none any more once it is stopped, also for who asked before', async () => {
  const at = await alarmAfter(async (schedule) => {
    const asked = schedule.ensure(FAR);
    schedule.stop();
    await asked;
    await schedule.ensure(FAR + 1000);
  });
  expect(at).toBeNull();
});

it('sets the first one of a new object in the step that asks', async () => {
  const at = await alarmAfter(async (_, storage) => {
    const asked = new Schedule(storage, new RowMeter(), false).ensure(FAR);
    expect(await storage.getAlarm()).toBe(FAR);
    await asked;
  });
  expect(at).toBe(FAR);
});

it('sets one in the step that asks, once it has looked', async () => {
  const at = await alarmAfter(async (schedule, storage) => {
    await schedule.look();
    const asked = schedule.ensure(FAR);
    expect(await storage.getAlarm()).toBe(FAR);
    await asked;
  });
  expect(at).toBe(FAR);
});

function alarmAfter(
  work: (schedule: Schedule, storage: DurableObjectStorage) => Promise<unknown>,
): Promise<number | null> {
  const id = env.CONVERSATIONS.newUniqueId();
  return runInDurableObject(env.CONVERSATIONS.get(id), async (_, { storage }) => {
    await work(new Schedule(storage, new RowMeter(), true), storage);
    return await storage.getAlarm();
  });
}
