import { env, runInDurableObject } from 'cloudflare:test';
import { expect, it, vi } from 'vitest';
import { Random } from '../../../bench/fuzz/random.ts';
import { type Deadline, Deadlines } from '../../../worker/conversation/deadlines.ts';
import { RowMeter } from '../../../worker/storage/row-meter.ts';

const NOW = 4_000_000_000_000;
const AGAIN_MS = 60_000;

it.each<[string, readonly number[]]>([
  ['the nearer one first', [1000, 2000]],
  ['the nearer one last', [2000, 1000]],
  ['one between', [1500, 1000, 2000]],
  ['one that has come already', [-1000, 0, 1000]],
  ['one that has come already and one much later', [-1000, 1000, AGAIN_MS * 100]],
])('the alarm stands at the earliest deadline of several, %s', async (_, moments) => {
  const alarm = await alarmAfter(({ deadlines, due }) => {
    for (const ms of moments) due.push({ name: 'tea', atMs: NOW + ms });
    return deadlines.arm();
  });
  expect(alarm).toBe(NOW + 1000);
});

it('the alarm stands at the earliest deadline also where several ask at the same time', async () => {
  const alarm = await alarmAfter(async ({ deadlines, due }) => {
    due.push({ name: 'tea', atMs: NOW + 2000 });
    const first = deadlines.arm();
    due.push({ name: 'bread', atMs: NOW + 1000 });
    await Promise.all([first, deadlines.arm()]);
  });
  expect(alarm).toBe(NOW + 1000);
});

it('the alarm comes soon where all have come', async () => {
  const alarm = await alarmAfter(({ deadlines, due }) => {
    due.push({ name: 'tea', atMs: NOW });
    return deadlines.arm();
  });
  expect(alarm).toBe(NOW + AGAIN_MS);
});

it('the alarm comes as soon where another deadline is hours away', async () => {
  const alarm = await alarmAfter(({ deadlines, due }) => {
    due.push({ name: 'tea', atMs: NOW }, { name: 'bread', atMs: NOW + 100 * AGAIN_MS });
    return deadlines.arm();
  });
  expect(alarm).toBe(NOW + AGAIN_MS);
});

it('there is no alarm where nothing has to happen', async () => {
  expect(await alarmAfter(({ deadlines }) => deadlines.arm())).toBeNull();
});

it('the alarm is not moved away again, which would cost a row', async () => {
  const alarm = await alarmAfter(async ({ deadlines, due, meter }) => {
    due.push({ name: 'tea', atMs: NOW + 1000 });
    await deadlines.arm();
    due[0] = { name: 'tea', atMs: NOW + 2000 };
    await deadlines.arm();
    due.pop();
    await deadlines.arm();
    expect(meter.rows).toBe(1);
  });
  expect(alarm).toBe(NOW + 1000);
});

it('the alarm is not moved away either where an earlier instance of the object had set it', async () => {
  const alarm = await alarmAfter(async ({ deadlines, due, storage, meter }) => {
    await storage.setAlarm(NOW + 1000);
    due.push({ name: 'tea', atMs: NOW + 2000 });
    await deadlines.arm();
    expect(meter.rows).toBe(0);
  });
  expect(alarm).toBe(NOW + 1000);
});

it('when the alarm comes, each deadline that is due is met once, and the alarm is set for the next one before', async () => {
  const met: (readonly [string, number | null])[] = [];
  const alarm = await alarmAfter(async ({ deadlines, due, storage, handlers }) => {
    due.push({ name: 'tea', atMs: NOW }, { name: 'tea', atMs: NOW - 1 });
    due.push({ name: 'bread', atMs: NOW + 1000 });
    handlers.tea = async () => void met.push(['tea', await storage.getAlarm()]);
    handlers.bread = () => void met.push(['bread', null]);
    await deadlines.fire();
  });
  expect(met).toEqual([['tea', NOW + 1000]]);
  expect(alarm).toBe(NOW + 1000);
});

it('when the alarm comes, one that fails keeps no other from being met, and comes again', async () => {
  const met: string[] = [];
  const failed: unknown[] = [];
  const alarm = await alarmAfter(async ({ deadlines, due, handlers, failures }) => {
    failed.push(failures);
    due.push({ name: 'tea', atMs: NOW }, { name: 'bread', atMs: NOW });
    handlers.tea = () => {
      throw new Error('no water');
    };
    handlers.bread = () => void met.push('bread');
    await deadlines.fire();
  });
  expect(met).toEqual(['bread']);
  expect(failed).toEqual([[['tea', new Error('no water')]]]);
  expect(alarm).toBe(NOW + AGAIN_MS);
});

it('when the alarm comes too early, it is only set for what there is', async () => {
  const met: string[] = [];
  const alarm = await alarmAfter(async ({ deadlines, due, handlers, storage }) => {
    await deadlines.look();
    await storage.deleteAlarm();
    due.push({ name: 'tea', atMs: NOW + 1000 });
    handlers.tea = () => void met.push('tea');
    await deadlines.fire();
  });
  expect(met).toEqual([]);
  expect(alarm).toBe(NOW + 1000);
});

it.each([1, 2, 3, 4])('no set of deadlines hides one that is due (seed %i)', async (seed) => {
  const random = new Random(seed);
  const fromNow = () =>
    Math.floor(random.fraction() ** 4 * (random.chance(0.5) ? -1 : 1) * 200 * AGAIN_MS);
  let nowMs = NOW;
  let met = new Set<Name>();
  await alarmAfter(async ({ deadlines, due, handlers, storage }) => {
    vi.mocked(Date.now).mockImplementation(() => nowMs);
    for (const name of NAMES) {
      handlers[name] = () => {
        met.add(name);
        if (random.chance(0.3)) throw new Error('no water');
      };
    }
    for (let step = 0; step < 200; step++) {
      nowMs += Math.floor(random.fraction() * 3 * AGAIN_MS);
      const count = random.below(5);
      due.splice(0, due.length, ...Array.from({ length: count }, () => drawn(nowMs + fromNow())));
      met = new Set();
      const isFired = random.chance(0.5);
      if (isFired) await storage.deleteAlarm(); // As the runtime does before it calls.
      await (isFired ? deadlines.fire() : deadlines.arm());
      const overdue = due.filter((deadline) => deadline.atMs <= nowMs).map(({ name }) => name);
      expect(met).toEqual(new Set(isFired ? overdue : []));
      const latest = due.map(({ atMs }) => (atMs > nowMs ? atMs : nowMs + AGAIN_MS));
      const alarm = await storage.getAlarm();
      if (due.length > 0) expect(alarm).toBeLessThanOrEqual(Math.min(...latest));
      if (isFired && due.length === 0) expect(alarm).toBeNull();
    }
  });

  function drawn(at: number): Deadline<Name> {
    return { name: NAMES[random.below(NAMES.length)] ?? 'tea', atMs: at };
  }
});

it('sets no alarm any more once it is stopped, also for who asked before', async () => {
  const alarm = await alarmAfter(async ({ deadlines, due }) => {
    due.push({ name: 'tea', atMs: NOW + 1000 });
    const asked = deadlines.arm();
    deadlines.stop();
    await asked;
    await deadlines.arm();
  });
  expect(alarm).toBeNull();
});

it('sets the first one of a new object in the step that asks', async () => {
  const alarm = await alarmAfter(async ({ deadlines, due, storage }) => {
    due.push({ name: 'tea', atMs: NOW + 1000 });
    const asked = deadlines.arm();
    expect(await storage.getAlarm()).toBe(NOW + 1000);
    await asked;
  }, false);
  expect(alarm).toBe(NOW + 1000);
});

it('sets one in the step that asks, once it has looked', async () => {
  const alarm = await alarmAfter(async ({ deadlines, due, storage }) => {
    await deadlines.look();
    due.push({ name: 'tea', atMs: NOW + 1000 });
    const asked = deadlines.arm();
    expect(await storage.getAlarm()).toBe(NOW + 1000);
    await asked;
  });
  expect(alarm).toBe(NOW + 1000);
});

const NAMES = ['tea', 'bread'] as const;
type Name = (typeof NAMES)[number];

interface Kitchen {
  readonly deadlines: Deadlines;
  /** What is derived. */
  readonly due: Deadline<Name>[];
  readonly handlers: Record<Name, () => void | Promise<void>>;
  readonly meter: RowMeter;
  readonly storage: DurableObjectStorage;
  readonly failures: [string, unknown][];
}

/** Where the alarm of a real object stands after the work. The time is {@link NOW}. */
function alarmAfter(
  work: (kitchen: Kitchen) => Promise<unknown>,
  isStored = true,
): Promise<number | null> {
  vi.spyOn(Date, 'now').mockReturnValue(NOW);
  const stub = env.CONVERSATIONS.get(env.CONVERSATIONS.newUniqueId());
  return runInDurableObject(stub, async (_, { storage }) => {
    const due: Deadline<Name>[] = [];
    const handlers: Kitchen['handlers'] = { tea: () => undefined, bread: () => undefined };
    const meter = new RowMeter();
    const failures: Kitchen['failures'] = [];
    const onFailure = (...failure: (typeof failures)[number]) => void failures.push(failure);
    const settings = { onFailure, againMs: AGAIN_MS };
    const deadlines = new Deadlines(storage, meter, isStored, settings);
    deadlines.add(() => due, handlers);
    await work({ deadlines, due, handlers, failures, meter, storage });
    return await storage.getAlarm();
  });
}
