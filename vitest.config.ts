import { cloudflareTest } from '@cloudflare/vitest-plugin';
import { defineConfig } from 'vitest/config';

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
        test: { name: 'worker', include: ['test/worker/**/*.test.ts'] },
      },
      {
        test: {
          name: 'node',
          include: ['test/**/*.test.ts'],
          exclude: ['test/worker/**', 'test/flow/**'],
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
