import { defineConfig } from 'vitest/config';

/** Tests with foreign programs, which they install from the npm registry. */
export default defineConfig({
  test: {
    include: ['test/interop/**/*.interop.ts'],
    testTimeout: 5 * 60_000,
    hookTimeout: 5 * 60_000,
    fileParallelism: false,
  },
});
