import { defineConfig } from 'vitest/config';
import { insideWorkerd, PATIENT, PROGRAMS } from './vitest.config.ts';

/** The slow tests: races, schedules, attacks, damage and fuzzing by the thousand. `npm test` runs the rest. */
export default defineConfig({
  test: {
    maxWorkers: 2,
    testTimeout: 15 * 60_000,
    hookTimeout: 15 * 60_000,
    expect: PATIENT,
    setupFiles: 'test/patience.ts',
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
          env: PROGRAMS,
          include: ['test/**/*.deep.ts'],
          exclude: ['test/worker/**'],
          maxConcurrency: 2,
        },
      },
    ],
  },
});
