import { defineConfig } from 'vitest/config';

/** Programs that nobody here wrote, installed from the npm registry on demand. */
export default defineConfig({
  test: {
    include: ['test/interop/**/*.interop.ts'],
    testTimeout: 5 * 60_000,
    hookTimeout: 5 * 60_000,
    fileParallelism: false,
  },
});
