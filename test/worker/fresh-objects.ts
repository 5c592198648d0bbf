/** All test files of a worker share one runtime: what one leaves at work would ask the models of the next. */
import { reset } from 'cloudflare:test';
import { afterAll } from 'vitest';
import { standsAt } from './api.ts';

afterAll(async () => {
  await reset();
  standsAt.clear();
});
