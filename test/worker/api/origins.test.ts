import { SELF } from 'cloudflare:test';
import { expect, it } from 'vitest';
import { ask, call, scriptModel } from '../api.ts';

const ALLOWED = 'access-control-allow-origin';

it('lets a page of a configured origin send a request with a token', async () => {
  const response = await preflight('https://other.test');
  expect(response.status).toBe(204);
  expect(response.headers.get(ALLOWED)).toBe('https://other.test');
  const headers = response.headers.get('access-control-allow-headers');
  expect(headers).toContain('authorization');
  expect(headers).toContain('x-stainless-lang');
  expect(response.headers.get('access-control-allow-credentials')).toBeNull();
});

it.each(['https://evil.test', 'https://app.test.evil.test', 'null'])(
  'lets no page of %s',
  async (origin) => {
    expect((await preflight(origin)).headers.get(ALLOWED)).toBeNull();
    const answer = await call('me', { headers: { origin } });
    expect([answer.status, answer.headers.get(ALLOWED)]).toEqual([200, null]);
  },
);

it('lets a page read answers, errors, and the ids of a stream', async () => {
  scriptModel(() => ({ text: 'hi' }));
  const headers = { origin: 'https://app.test' };
  const missing = await call('nowhere', { headers });
  expect([missing.status, missing.headers.get(ALLOWED)]).toEqual([404, 'https://app.test']);
  const stream = await call('chat/completions', {
    headers,
    body: { messages: [{ role: 'user', content: 'hello' }], stream: true },
  });
  expect(stream.headers.get(ALLOWED)).toBe('https://app.test');
  expect(stream.headers.get('access-control-expose-headers')).toContain('drawbridge-response-id');
  expect(await stream.text()).toContain('event: done');
});

it('says nothing of origins to what is no page', async () => {
  scriptModel(() => ({ text: 'hi' }));
  expect((await ask('hello')).headers.get(ALLOWED)).toBeNull();
});

it('a configured origin is no token', async () => {
  const response = await SELF.fetch('https://drawbridge.test/api/v1/me', {
    headers: { origin: 'https://app.test' },
  });
  expect([response.status, response.headers.get(ALLOWED)]).toEqual([401, 'https://app.test']);
});

function preflight(origin: string): Promise<Response> {
  return SELF.fetch('https://drawbridge.test/api/v1/chat/completions', {
    method: 'OPTIONS',
    headers: {
      origin,
      'access-control-request-method': 'POST',
      'access-control-request-headers': 'authorization,content-type,x-stainless-lang',
    },
  });
}
