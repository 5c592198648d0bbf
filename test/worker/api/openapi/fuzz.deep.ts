import { it } from 'vitest';
import { deep } from '../../../depth.ts';
import { fuzzWorker } from './fuzzed.ts';

it.each([20_261])('requests made by seed %i are answered as the document says', async (seed) => {
  await fuzzWorker(seed, deep(2_000));
});
