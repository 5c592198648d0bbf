import { expect, it } from 'vitest';
import { deep } from '../../../depth.ts';
import { runTrees } from './run-trees.ts';

/** Those of the gate are among them. */
const SEEDS = deep(100);

it(`${SEEDS} trees of agents lose and double nothing, whichever of their objects crash`, async () => {
  const seeds = Array.from({ length: SEEDS }, (_, index) => 1 + index);
  expect(await runTrees(seeds)).toEqual([]);
});
