import { SELF } from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import { afterEach, describe, expect, it } from 'vitest';
import { call, errorOf, tokenFor } from '../api.ts';

/** The settings of the Worker under test, which it reads at each request. */
const settings = env as { AUTH_SECRET?: string };
const own = settings.AUTH_SECRET ?? '';
afterEach(() => {
  settings.AUTH_SECRET = own;
});

/** Its base64 has all that base64url writes otherwise. */
const BYTES = Uint8Array.from({ length: 32 }, (_, index) =>
  index < 3 ? 255 : 251 + (index % 3) * 11,
);
BYTES.set([0xfb, 0xef, 0xbe], 3);
const BASE64 = btoa(String.fromCharCode(...BYTES));
const HEX = Array.from(BYTES, (byte) => byte.toString(16).padStart(2, '0')).join('');

describe('AUTH_SECRET', () => {
  it.each([
    ['base64', BASE64],
    ['base64 without padding', BASE64.replace('=', '')],
    ['base64url', BASE64.replaceAll('+', '-').replaceAll('/', '_').replace('=', '')],
    ['base64url with padding', BASE64.replaceAll('+', '-').replaceAll('/', '_')],
    ['hex', HEX],
    ['hex in capitals', HEX.toUpperCase()],
    ['text with line ends', `${BASE64.slice(0, 20)}\n${BASE64.slice(20)}\n`],
  ])('counts as the bytes that it writes in %s', async (_, written) => {
    expect(BASE64).toMatch(/\+.*\/|\/.*\+/);
    settings.AUTH_SECRET = written;
    const token = await tokenFor({ secret: BASE64 });
    const me = await call('me', { headers: { authorization: `Bearer ${token}` } });
    expect(me.status).toBe(200);
    expect((await SELF.fetch('https://edge.test/health')).status).toBe(200);
  });

  it.each([
    ['', 'is missing'],
    ['a long text that is none of them', 'is neither hex nor base64'],
    ['correct!horse!battery!staple!correct!horse!', 'is neither hex nor base64'],
    ['abcde', 'is neither hex nor base64'],
    ['c2hvcnQ', 'has 5 bytes, fewer than 32'],
    [HEX.slice(2), 'has 31 bytes, fewer than 32'],
  ])('as %j is told before anybody calls, with what to do', async (written, problem) => {
    settings.AUTH_SECRET = written;
    const error = await errorOf(await SELF.fetch('https://edge.test/health'));
    expect(error).toMatchObject({ status: 500, code: 'NOT_CONFIGURED' });
    expect(error.message).toContain(`AUTH_SECRET `);
    expect(error.message).toContain(problem);
    expect(error.message).toContain('openssl rand -base64 32');
  });
});
