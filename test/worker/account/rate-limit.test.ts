import { env } from 'cloudflare:workers';
import { expect, it } from 'vitest';
import { TokenBuckets } from '../../../worker/account/token-bucket.ts';
import { app } from '../../../worker/app.ts';
import { errorOf, scriptModel, tokenFor } from '../api.ts';

it('a bucket gives a minute’s allowance at once, and then one at a time as it refills', () => {
  const buckets = new TokenBuckets();
  const take = (nowMs: number) => buckets.take('ada', 3, nowMs).waitMs;
  expect([take(0), take(0), take(0), take(0)]).toEqual([0, 0, 0, 20_000]);
  expect([take(10_000), take(20_000), take(20_000)]).toEqual([10_000, 0, 20_000]);
  expect([take(600_000), take(600_000), take(600_000)]).toEqual([0, 0, 0]);
  expect(take(600_000)).toBeGreaterThan(0);
});

it('a bucket takes nothing back when the clock does', () => {
  const buckets = new TokenBuckets();
  expect(buckets.take('ada', 1, 60_000).waitMs).toBe(0);
  expect(buckets.take('ada', 1, 0).waitMs).toBe(60_000);
});

it('each account has a bucket of its own', () => {
  const buckets = new TokenBuckets();
  buckets.take('ada', 1, 0);
  expect(buckets.take('eve', 1, 0).waitMs).toBe(0);
});

it('says when to come back once an account has made its requests of a minute', async () => {
  const settings = { RATE_LIMIT_REQUESTS_PER_MINUTE: '3' };
  const account = crypto.randomUUID();
  for (let number = 0; number < 3; number++) {
    expect((await get('me', account, settings)).status).toBe(200);
  }
  const refused = await get('me', account, settings);
  expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
  expect(await errorOf(refused)).toMatchObject({ status: 429, code: 'RATE_LIMITED' });
  expect((await get('me', crypto.randomUUID(), settings)).status).toBe(200);
});

it('counts runs apart', async () => {
  scriptModel(() => ({ text: 'Ok.' }));
  const settings = { RATE_LIMIT_RUNS_PER_MINUTE: '1' };
  const account = crypto.randomUUID();
  const body = JSON.stringify({ messages: [{ role: 'user', content: 'go' }] });
  const run = { method: 'POST', body };
  expect((await get('chat/completions', account, settings, run)).status).toBe(200);
  expect((await get('chat/plan', account, settings, run)).status).toBe(429);
  expect((await get('me', account, settings)).status).toBe(200);
});

async function get(path: string, account: string, settings: object, init: RequestInit = {}) {
  const headers = { authorization: `Bearer ${await tokenFor({ account })}` };
  const request = new Request(`https://drawbridge.test/api/v1/${path}`, { ...init, headers });
  return await app.fetch(request, { ...env, ...settings });
}
