import { SELF } from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import { afterEach, describe, expect, it } from 'vitest';
import { MAX_TOKEN_DAYS } from '../../shared/wire/tokens.ts';
import { call, chat, errorOf, scriptModel, tokenFor } from './api.ts';

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
  ])('AUTH_SECRET counts as the bytes that it writes in %s', async (_, written) => {
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
    [`${HEX.slice(2)},${HEX}`, 'has 31 bytes, fewer than 32'],
    [`${HEX},${HEX.slice(2)}`, 'holds a second secret that has 31 bytes, fewer than 32'],
    [`${HEX},`, 'holds a second secret that is missing'],
    [`,${HEX}`, 'is missing'],
    [`${HEX},${HEX},${HEX}`, 'holds 3 secrets, more than 2'],
  ])('/health refuses AUTH_SECRET %j, with what to do', async (written, problem) => {
    settings.AUTH_SECRET = written;
    const error = await errorOf(await SELF.fetch('https://edge.test/health'));
    expect(error).toMatchObject({ status: 500, code: 'NOT_CONFIGURED' });
    expect(error.message).toContain(`AUTH_SECRET `);
    expect(error.message).toContain(problem);
    expect(error.message).toContain('openssl rand -base64 32');
  });
});

describe('a token of a clock that is ahead', () => {
  it.each([
    ['counts where it is two minutes ahead', 115, '1h', 200],
    ['does not where it is three', 180, '1h', 401],
    ['ends to the second all the same', -600, '-10s', 401],
  ])('%s', async (_, aheadSeconds, expires, expected) => {
    const nbf = Math.floor(Date.now() / 1000) + aheadSeconds;
    const token = await tokenFor({ claims: { scope: 'user', nbf, iat: nbf }, expires });
    const answer = await call('me', { headers: { authorization: `Bearer ${token}` } });
    expect(answer.status).toBe(expected);
  });
});

describe('two secrets', () => {
  const status = async (token: string) =>
    (await call('me', { headers: { authorization: `Bearer ${token}` } })).status;

  it('both of two secrets open the API, and a third does not', async () => {
    settings.AUTH_SECRET = `${BASE64},\n ${own}`;
    const signed = await Promise.all([BASE64, own, HEX.replace(/^../, '00')].map(signedBy));
    expect(await Promise.all(signed.map(status))).toEqual([200, 200, 401]);
  });

  it('a removed secret opens nothing', async () => {
    const token = await signedBy(own);
    settings.AUTH_SECRET = `${BASE64},${own}`;
    expect(await status(token)).toBe(200);
    settings.AUTH_SECRET = BASE64;
    expect(await status(token)).toBe(401);
  });

  it('a ticket of before the change opens its stream, and new ones are signed by the first', async () => {
    scriptModel(() => ({ text: 'hi' }));
    const { id } = await chat('one');
    const ticket = async () =>
      (await (await call('tickets', { body: { responseId: id } })).json<{ ticket: string }>())
        .ticket;
    const before = await ticket();
    settings.AUTH_SECRET = `${BASE64},${own}`;
    const after = await ticket();
    settings.AUTH_SECRET = BASE64;
    const open = (which: string) =>
      SELF.fetch(`https://edge.test/api/v1/chat/completions/${id}/events?ticket=${which}`);
    expect((await open(before)).status).toBe(401);
    const opened = await open(after);
    expect(opened.status).toBe(200);
    await opened.body?.cancel();
    settings.AUTH_SECRET = `${BASE64},${own}`;
    const late = await open(before);
    expect(late.status).toBe(200);
    await late.body?.cancel();
  });
});

describe('the life of a token', () => {
  const answer = async (issued: string | undefined, expires: string) => {
    const token = await tokenFor({ expires, ...(issued && { issued }) });
    const response = await call('me', { headers: { authorization: `Bearer ${token}` } });
    return response.ok ? 200 : await errorOf(response);
  };
  const tooLong = {
    status: 401,
    code: 'UNAUTHENTICATED',
    message: `The token is valid for more than ${MAX_TOKEN_DAYS} days: get a new one`,
  };

  it.each<[what: string, issued: string | undefined, expires: string, is: unknown]>([
    ['of as many days as may be asked for', '0s', `${MAX_TOKEN_DAYS} days`, 200],
    ['made by a clock that is an hour ahead', '1h', `${MAX_TOKEN_DAYS * 24 + 1}h`, 200],
    ['of two years', '0s', '730 days', tooLong],
    ['of two years, most of which are over', '-700 days', '30 days', tooLong],
    ['of a month that begins in ten years', '3650 days', '3680 days', tooLong],
    ['that does not say when it was made', undefined, '30 days', 200],
    ['of two years that does not say when it was made', undefined, '730 days', tooLong],
  ])('%s', async (_, issued, expires, is) => {
    expect(await answer(issued, expires)).toEqual(is);
  });
});

function signedBy(secret: string): Promise<string> {
  return tokenFor({ secret });
}
