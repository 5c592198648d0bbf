import { afterEach, expect, it, vi } from 'vitest';
import { modelNameOf, playModel, type Scripted } from './schedules/model.ts';
import { CRASH_POINTS, type CrashPoint, planSchedule } from './schedules/plan.ts';
import { ScheduleRun } from './schedules/run.ts';

/** Seeds that failed once: they stay. To look at one alone, put it here and set `RANDOM_SEEDS` to 0. */
const NAMED_SEEDS: readonly number[] = [];
const RANDOM_SEEDS = 1_000;
const FIRST_SEED = 1;

/** At once: most of a schedule's time is waiting for readers that attach again. */
const WORKERS = 60;
const STUCK_MS = 30_000;
const TIMEOUT_MS = 180_000;

afterEach(() => vi.restoreAllMocks());

it('loses, doubles and changes nothing, wherever a conversation crashes and whoever comes and goes', {
  timeout: TIMEOUT_MS,
}, async () => {
  const { failures, hits } = await runAll([
    ...NAMED_SEEDS,
    ...Array.from({ length: RANDOM_SEEDS }, (_, index) => FIRST_SEED + index),
  ]);
  console.log(CRASH_POINTS.map((point) => `${point.padEnd(20)}${hits.get(point) ?? 0}`).join('\n'));
  expect(failures.slice(0, 10)).toEqual([]);
  expect(CRASH_POINTS.filter((point) => !hits.get(point))).toEqual([]);
});

async function runAll(seeds: readonly number[]) {
  const failures: string[] = [];
  const hits = new Map<CrashPoint, number>();
  const byModel = new Map<string, Scripted>();
  const running = new Map<Scripted, ScheduleRun>();
  playModel(byModel);
  // Failing upstreams are told of on purpose; a run that fails by a bug is none of them.
  vi.spyOn(console, 'error').mockImplementation((...said) => {
    if (/^(run failed|a failed run)/.test(String(said[0])))
      failures.push(said.map(String).join(' '));
  });
  const crasher = setInterval(() => grantWishes(running), 2);
  const waiting = [...seeds];
  const work = async () => {
    for (let seed = waiting.shift(); seed !== undefined; seed = waiting.shift()) {
      const plan = planSchedule(seed);
      const scripted = { plan, mayAnswer: false, wish: null, attempts: new Map() };
      const schedule = new ScheduleRun(scripted);
      byModel.set(modelNameOf(seed), scripted);
      running.set(scripted, schedule);
      const outcome = await schedule.run(STUCK_MS);
      running.delete(scripted);
      for (const point of outcome.hits) hits.set(point, (hits.get(point) ?? 0) + 1);
      failures.push(...outcome.problems.map((problem) => `seed ${seed}: ${problem}`));
    }
  };
  await Promise.all(Array.from({ length: WORKERS }, work));
  clearInterval(crasher);
  return { failures, hits };
}

function grantWishes(running: ReadonlyMap<Scripted, ScheduleRun>): void {
  for (const [scripted, schedule] of running) {
    const { wish } = scripted;
    scripted.wish = null;
    if (wish) void schedule.crashByModel(wish);
  }
}
