import { defineConfig } from 'vitest/config';

/** What needs long: races by the thousand and fuzzing against foreign programs. Everything else is in `npm test`. */
export default defineConfig({
  test: {
    include: ['test/**/*.deep.ts'],
    testTimeout: 15 * 60_000,
    fileParallelism: false,
    maxConcurrency: 2,
  },
});
