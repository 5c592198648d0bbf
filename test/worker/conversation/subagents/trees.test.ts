import { expect, it } from 'vitest';
import { runTrees } from './run-trees.ts';

/** Seeds that failed once: they stay. */
const NAMED_SEEDS: readonly number[] = [];
/** `test:deep` runs a hundred. */
const RANDOM_SEEDS = 3;

it('a tree of agents loses and doubles nothing, whichever of its objects crash', async () => {
  const seeds = Array.from({ length: RANDOM_SEEDS }, (_, index) => 1 + index);
  expect(await runTrees([...NAMED_SEEDS, ...seeds])).toEqual([]);
});
