import { SELF } from 'cloudflare:test';
import { expect, it, onTestFinished, vi } from 'vitest';
import { HOUR } from '../../../shared/units.ts';
import { CORS_LIMITS } from '../../../worker/api/origins.ts';
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

it('lets the page of a listed origin reach a server of its own machine or network, if it asks', async () => {
  const asks = { 'access-control-request-private-network': 'true' };
  const granted = async (origin: string, more = {}) =>
    (await preflight(origin, more)).headers.get('access-control-allow-private-network');
  expect(await granted('https://other.test', asks)).toBe('true');
  expect(await granted('https://other.test')).toBeNull();
  expect(await granted('https://evil.test', asks)).toBeNull();
});

it.each(['https://evil.test', 'https://app.test.evil.test', 'null'])(
  'lets no page of %s',
  async (origin) => {
    expect((await preflight(origin)).headers.get(ALLOWED)).toBeNull();
    const answer = await call('me', { headers: { origin } });
    expect([answer.status, answer.headers.get(ALLOWED)]).toEqual([200, null]);
  },
);

it('refuses the preflight of an origin that is not listed, and logs it once', async () => {
  const warn = vi.spyOn(console, 'warn').mockReturnValue();
  for (let time = 0; time < 2; time++) {
    const response = await preflight('https://unlisted.test');
    expect([response.status, await response.json()]).toMatchObject([
      403,
      { error: { code: 'FORBIDDEN', message: expect.stringContaining('ALLOWED_ORIGINS') } },
    ]);
  }
  const lines = warn.mock.calls.map(([line]) => JSON.parse(String(line)));
  expect(lines.filter(({ event }) => event === 'origin_refused')).toMatchObject([
    { message: 'https://unlisted.test' },
  ]);
});

it('logs at most so many origins an hour, and those of a stranger silence the log for no longer', async () => {
  vi.useFakeTimers({ now: Date.now() + 2 * HOUR, toFake: ['Date'] });
  onTestFinished(() => void vi.useRealTimers());
  const warn = vi.spyOn(console, 'warn').mockReturnValue();
  const logged = () =>
    warn.mock.calls
      .map(([line]) => JSON.parse(String(line)))
      .flatMap(({ event, message }) => (event === 'origin_refused' ? [message] : []));
  const { maxRefused } = CORS_LIMITS;
  for (let at = 0; at < maxRefused + 5; at++) await preflight(`https://stranger${at}.test`);
  expect(logged()).toHaveLength(maxRefused);
  await preflight('https://person.test');
  expect(logged()).not.toContain('https://person.test');
  vi.setSystemTime(Date.now() + HOUR);
  await preflight('https://person.test');
  expect(logged().slice(maxRefused)).toEqual(['https://person.test']);
});

it('logs the origin of a request that needs no preflight, too', async () => {
  const warn = vi.spyOn(console, 'warn').mockReturnValue();
  vi.useFakeTimers({ now: Date.now() + 4 * HOUR, toFake: ['Date'] });
  onTestFinished(() => void vi.useRealTimers());
  const path = 'https://drawbridge.test/health';
  for (const origin of ['https://simple.test', 'https://drawbridge.test', 'http://drawbridge.test'])
    expect((await SELF.fetch(path, { headers: { origin } })).status).toBe(200);
  const lines = warn.mock.calls.map(([line]) => JSON.parse(String(line)));
  expect(lines.map(({ event, message }) => [event, message])).toEqual([
    ['origin_refused', 'https://simple.test'],
  ]);
});

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

function preflight(origin: string, more: Record<string, string> = {}): Promise<Response> {
  return SELF.fetch('https://drawbridge.test/api/v1/chat/completions', {
    method: 'OPTIONS',
    headers: {
      origin,
      'access-control-request-method': 'POST',
      'access-control-request-headers': 'authorization,content-type,x-stainless-lang',
      ...more,
    },
  });
}
