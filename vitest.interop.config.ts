import { defineConfig } from 'vitest/config';
import { PATIENT } from './vitest.config.ts';

/** Tests with foreign programs, which they install from the npm registry. */
export default defineConfig({
  test: {
    expect: PATIENT,
    setupFiles: 'test/patience.ts',
    include: ['test/interop/**/*.interop.ts'],
    testTimeout: 5 * 60_000,
    hookTimeout: 5 * 60_000,
    fileParallelism: false,
  },
});
