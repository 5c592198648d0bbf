import { afterEach, expect, it, vi } from 'vitest';
import { type DoomedCopy, watchCopies } from './schedules/copies.ts';
import { sleep } from './schedules/device.ts';
import { newScripted, playModel, type Scripted } from './schedules/model.ts';
import { planSchedule } from './schedules/plan.ts';
import { CRASH_POINTS, INGREDIENTS } from './schedules/points.ts';
import { ScheduleRun } from './schedules/run.ts';

/** Seeds that failed once: they stay. To look at one alone, put it here and set `RANDOM_SEEDS` to 0. */
const NAMED_SEEDS: readonly number[] = [];
const RANDOM_SEEDS = 100;
const FIRST_SEED = 1;

/** At once: most of a schedule's time is waiting for readers that attach again. */
const WORKERS = 60;
/** How often somebody looks whether a crash is wished for. */
const LOOK_MS = 3;
/** On a busy machine the longest ones take half of it. */
const STUCK_MS = 60_000;
const TIMEOUT_MS = 240_000;

afterEach(() => vi.restoreAllMocks());

it('loses, doubles and changes nothing, wherever a conversation crashes and whoever comes and goes', {
  timeout: TIMEOUT_MS,
}, async () => {
  const { failures, counts } = await runAll([
    ...NAMED_SEEDS,
    ...Array.from({ length: RANDOM_SEEDS }, (_, index) => FIRST_SEED + index),
  ]);
  const names = [...CRASH_POINTS, ...INGREDIENTS];
  console.log(names.map((name) => `${name.padEnd(24)}${counts.get(name) ?? 0}`).join('\n'));
  expect(failures.slice(0, 10)).toEqual([]);
  expect(names.filter((name) => !counts.get(name))).toEqual([]);
});

async function runAll(seeds: readonly number[]) {
  const failures: string[] = [];
  const counts = new Map<string, number>();
  const bySeed = new Map<number, Scripted>();
  const doomed = new Map<string, DoomedCopy>();
  const running = new Set<ScheduleRun>();
  playModel(bySeed);
  watchCopies(doomed);
  // Failing upstreams are told of on purpose; a run that fails by a bug is none of them.
  vi.spyOn(console, 'error').mockImplementation((...said) => {
    if (/^(run failed|a failed run)/.test(String(said[0])))
      failures.push(said.map(String).join(' '));
  });
  const over = new AbortController();
  const crashing = grantWishes(running, over.signal);
  const waiting = [...seeds];
  const work = async () => {
    for (let seed = waiting.shift(); seed !== undefined; seed = waiting.shift()) {
      const scripted = newScripted(planSchedule(seed));
      const schedule = new ScheduleRun(scripted, doomed);
      bySeed.set(seed, scripted);
      running.add(schedule);
      const outcome = await schedule.run(STUCK_MS);
      running.delete(schedule);
      for (const name of outcome.counted) counts.set(name, (counts.get(name) ?? 0) + 1);
      failures.push(...outcome.problems.map((problem) => `seed ${seed}: ${problem}`));
    }
  };
  await Promise.all(Array.from({ length: WORKERS }, work));
  over.abort();
  await crashing;
  return { failures, counts };
}

/** Makes the crashes that are wished for. */
async function grantWishes(running: ReadonlySet<ScheduleRun>, over: AbortSignal): Promise<void> {
  while (!over.aborted) {
    await sleep(LOOK_MS);
    for (const schedule of running) schedule.grantWishes();
  }
}
