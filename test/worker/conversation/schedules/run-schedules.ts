/** Many schedules at once, each with its conversation, its model and its readers. */
import { vi } from 'vitest';
import { connectBridge } from '../../tunnel/scripted-bridge.ts';
import { type DoomedCopy, watchCopies } from './copies.ts';
import { sleep } from './device.ts';
import { newScripted, playModel, type Scripted } from './model.ts';
import { planSchedule } from './plan.ts';
import type { CrashPoint, Ingredient } from './points.ts';
import { ScheduleRun } from './run.ts';
import { ACCOUNTS } from './stage.ts';

/** At once: most of a schedule's time is waiting for readers that attach again. */
const WORKERS = 60;
/** How often somebody looks whether a crash is wished for. */
const LOOK_MS = 3;
/** On a machine with ten times as much other work the longest ones take a third of it. */
const STUCK_MS = 180_000;

export interface Results {
  /** What was wrong, each with its seed. */
  readonly failures: readonly string[];
  /** How often each thing happened. */
  readonly counts: ReadonlyMap<CrashPoint | Ingredient, number>;
}

/** Mocks `fetch` and `console.error` until the test restores them. */
export async function runSchedules(seeds: readonly number[]): Promise<Results> {
  const failures: string[] = [];
  const counts = new Map<CrashPoint | Ingredient, number>();
  const bySeed = new Map<number, Scripted>();
  const doomed = new Map<string, DoomedCopy>();
  const running = new Set<ScheduleRun>();
  // Conversations that call no tool name no bridge: they go where their account's token stands.
  for (const account of ACCOUNTS) await connectBridge({ account });
  playModel(bySeed);
  watchCopies(doomed);
  // Failing upstreams are made on purpose; a run that fails by a bug is none of them.
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
