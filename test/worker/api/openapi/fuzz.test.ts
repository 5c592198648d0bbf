import { it } from 'vitest';
import { fuzzWorker } from './fuzzed.ts';

// `test:deep` sends two thousand, `npm run bench:fuzz` ten thousand by any seed.
it.each([20_261])('requests made by seed %i are answered as the document says', async (seed) => {
  await fuzzWorker(seed, 100);
});
