import { cloudflareTest } from '@cloudflare/vitest-plugin';
import { defineConfig } from 'vitest/config';

/**
 * Rooms of the Worker that only turn text into text: Node runs their tests in a fraction of the time. The linter of the
 * API's document runs in Node alone.
 */
const PURE_ROOMS = [
  'test/worker/{export,prompt,reply,upstream}/**/*.test.ts',
  'test/worker/conversation/memory/**/*.test.ts',
  'test/worker/api/openapi/lint.test.ts',
];

/** Two runtimes, two projects: what runs on the edge is tested inside workerd, the rest in Node. */
export default defineConfig({
  test: {
    projects: [
      {
        plugins: [
          cloudflareTest({
            wrangler: { configPath: './wrangler.toml' },
            miniflare: {
              bindings: {
                AUTH_SECRET: 'dGVzdHMtb25seS10ZXN0cy1vbmx5LXRlc3RzLW9ubHktMTIzNA',
                OPENAI_BASE_URL: 'http://model.test/v1',
                OPENAI_MODEL: 'scripted',
                RATE_LIMIT_REQUESTS_PER_MINUTE: '0',
                RATE_LIMIT_RUNS_PER_MINUTE: '0',
                TEXT_ONLY_MODELS: 'blind',
                ALLOWED_ORIGINS: 'https://app.test, https://other.test',
              },
            },
          }),
        ],
        test: {
          name: 'worker',
          include: ['test/worker/**/*.test.ts'],
          exclude: PURE_ROOMS,
          // The sender of an approval hears for up to 5 s whether the bridge refuses it.
          testTimeout: 20_000,
        },
      },
      {
        test: {
          name: 'node',
          include: [
            'test/*.test.ts',
            'test/{bench,bridge,browser,cli,client,local,machine,shared}/**/*.test.ts',
            ...PURE_ROOMS,
          ],
          testTimeout: 20_000,
          maxConcurrency: 2,
        },
      },
      {
        test: {
          name: 'flow',
          include: ['test/flow/**/*.test.ts'],
          testTimeout: 90_000,
          hookTimeout: 90_000,
          fileParallelism: false,
        },
      },
    ],
  },
});
