import { expect, it } from 'vitest';
import { deep } from '../../depth.ts';
import { CRASH_POINTS, INGREDIENTS } from './schedules/points.ts';
import { runSchedules } from './schedules/run-schedules.ts';

/** Those of the gate are among them. */
const SEEDS = deep(400);

it(`loses, doubles and changes nothing in ${SEEDS} schedules, in which everything happens`, async () => {
  const seeds = Array.from({ length: SEEDS }, (_, index) => 1 + index);
  const { failures, counts } = await runSchedules(seeds);
  const names = [...CRASH_POINTS, ...INGREDIENTS];
  console.log(names.map((name) => `${name.padEnd(24)}${counts.get(name) ?? 0}`).join('\n'));
  expect(failures.slice(0, 10)).toEqual([]);
  expect(names.filter((name) => !counts.get(name))).toEqual([]);
});
