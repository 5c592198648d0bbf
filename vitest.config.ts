import { cloudflareTest } from '@cloudflare/vitest-plugin';
import { defineConfig } from 'vitest/config';
import { PROGRAMS } from './test/built-program.ts';
import { reporters } from './test/progress.ts';

/**
 * Rooms of the Worker that only turn text into text: Node runs their tests in a fraction of the time. The linter of
 * `/openapi.json` runs only in Node.
 */
const PURE_ROOMS = [
  'test/worker/{export,reply}/**/*.test.ts',
  'test/worker/conversation/memory/**/*.test.ts',
  'test/worker/api/openapi/lint.test.ts',
  'doors/test/ui-messages/chunks.test.ts',
];

/** Runs the Worker inside workerd, with the settings that tests rely on. */
export function insideWorkerd() {
  return cloudflareTest({
    main: './worker/index.ts',
    wrangler: { configPath: './wrangler.toml' },
    miniflare: {
      bindings: {
        AUTH_SECRET: 'dGVzdHMtb25seS10ZXN0cy1vbmx5LXRlc3RzLW9ubHktMTIzNA',
        OPENAI_BASE_URL: 'http://model.test/v1',
        OPENAI_MODEL: 'scripted',
        METRICS_TOKEN: 'metrics-token-of-tests',
        RATE_LIMIT_REQUESTS_PER_MINUTE: '0',
        RATE_LIMIT_RUNS_PER_MINUTE: '0',
        TEXT_ONLY_MODELS: 'blind',
        PRIVATE_MODELS: 'scripted',
        ALLOWED_ORIGINS: 'https://app.test, https://other.test',
      },
    },
  });
}

/** A condition may take long on a busy machine; one that never comes fails all the same. See test/patience.ts. */
export const PATIENT = { poll: { timeout: 30_000 } };

/** A test that takes seconds takes minutes where many programs want the same processors and disk. */
const BUSY = { testTimeout: 180_000, hookTimeout: 180_000 };

/** Tests of the Worker run inside workerd, the rest in Node. The tests of `flow` start both together. */
export default defineConfig({
  test: {
    // More workers than a small machine has processors, because many tests wait for processes.
    maxWorkers: 4,
    silent: 'passed-only',
    reporters: reporters('minimal'),
    projects: [
      {
        plugins: [insideWorkerd()],
        test: {
          name: 'worker',
          expect: PATIENT,
          include: ['{test/worker,doors/test}/**/*.test.ts'],
          exclude: PURE_ROOMS,
          ...BUSY,
          // One runtime for all files of a test worker: starting it took most of a file's time.
          isolate: false,
          // Each loads all of the sources, which takes six seconds of processor time. Another number takes a group.
          maxWorkers: 3,
          sequence: { groupOrder: 1 },
          setupFiles: ['test/worker/fresh-objects.ts', 'test/patience.ts'],
          globalSetup: ['test/worker/quiet-runtime.ts', 'test/worker/storage-in-memory.ts'],
        },
      },
      {
        test: {
          name: 'node',
          env: PROGRAMS,
          expect: PATIENT,
          setupFiles: ['test/patience.ts', 'test/small-process.ts'],
          include: [
            'test/*.test.ts',
            'test/!(flow|worker)/**/*.test.ts',
            'packages/*/test/**/*.test.ts',
            ...PURE_ROOMS,
          ],
          ...BUSY,
          maxConcurrency: 2,
          isolate: false,
        },
      },
      {
        test: {
          name: 'flow',
          env: PROGRAMS,
          expect: PATIENT,
          setupFiles: ['test/patience.ts', 'test/small-process.ts'],
          include: ['test/flow/**/*.test.ts'],
          globalSetup: 'test/built-program.ts',
          ...BUSY,
          isolate: false,
        },
      },
    ],
  },
});
