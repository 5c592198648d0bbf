import { defineConfig } from 'vitest/config';
import { PROGRAMS } from './test/built-program.ts';
import { reporters } from './test/progress.ts';
import { insideWorkerd, PATIENT } from './vitest.config.ts';

/** Ten times as deep tries ten times as many cases. See test/depth.ts. */
const DEPTH = Number(process.env['DEPTH'] ?? 1);

/** The slow tests: races, schedules, attacks, damage and fuzzing by the thousand. `npm test` runs the rest. */
export default defineConfig({
  test: {
    maxWorkers: 2,
    silent: 'passed-only',
    reporters: reporters('default'),
    testTimeout: 10 * DEPTH * 60_000,
    hookTimeout: 5 * 60_000,
    provide: { depth: DEPTH },
    expect: PATIENT,
    setupFiles: 'test/patience.ts',
    projects: [
      {
        plugins: [insideWorkerd()],
        extends: true,
        test: {
          name: 'worker',
          include: ['{test/worker,doors/test}/**/*.deep.ts'],
          globalSetup: ['test/worker/quiet-runtime.ts', 'test/worker/storage-in-memory.ts'],
        },
      },
      {
        extends: true,
        test: {
          name: 'node',
          env: PROGRAMS,
          include: ['test/**/*.deep.ts', 'packages/*/test/**/*.deep.ts'],
          exclude: ['test/worker/**'],
          globalSetup: 'test/built-program.ts',
          maxConcurrency: 2,
        },
      },
    ],
  },
});
