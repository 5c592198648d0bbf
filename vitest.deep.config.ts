import { defineConfig } from 'vitest/config';
import { insideWorkerd } from './vitest.config.ts';

/** What needs long: races and schedules by the thousand, fuzzing against foreign programs. The rest is in `npm test`. */
export default defineConfig({
  test: {
    maxWorkers: 1,
    testTimeout: 15 * 60_000,
    projects: [
      {
        plugins: [insideWorkerd()],
        extends: true,
        test: {
          name: 'worker',
          include: ['test/worker/**/*.deep.ts'],
          globalSetup: 'test/worker/quiet-runtime.ts',
        },
      },
      {
        extends: true,
        test: {
          name: 'node',
          include: ['test/**/*.deep.ts'],
          exclude: ['test/worker/**'],
          maxConcurrency: 2,
        },
      },
    ],
  },
});
