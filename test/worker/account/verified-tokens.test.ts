import { expect, it, vi } from 'vitest';
import { AUTH_LIMITS } from '../../../worker/account/limits.ts';
import { VerifiedTokens } from '../../../worker/account/verified-tokens.ts';
import type { SecretKeys } from '../../../worker/secret.ts';
import { call, errorOf, tokenFor } from '../api.ts';

const key: SecretKeys = [{} as CryptoKey];

it('knows a token until it expires, under the key that it was checked with', () => {
  const tokens = new VerifiedTokens<string>();
  tokens.remember('a.b.c', key, 'ada', 10);
  expect(tokens.find('a.b.c', key, 9_999)).toBe('ada');
  expect(tokens.find('a.b.c', key, 10_000)).toBeUndefined();
  expect(tokens.find('a.b.c', [...key], 0)).toBeUndefined();
  expect(tokens.find('a.b.d', key, 0)).toBeUndefined();
});

it('forgets the oldest when there are too many', () => {
  const tokens = new VerifiedTokens<number>();
  const { maxVerifiedTokens: max } = AUTH_LIMITS;
  for (let number = 0; number <= max; number++) tokens.remember(`${number}`, key, number, 10);
  expect([tokens.find('0', key, 0), tokens.find('1', key, 0)]).toEqual([undefined, 1]);
});

it('refuses a remembered token after its expiry', async () => {
  const token = await tokenFor({ expires: '1m' });
  const me = () => call('me', { headers: { authorization: `Bearer ${token}` } });
  expect((await me()).status).toBe(200);
  vi.setSystemTime(Date.now() + 61_000);
  const refused = await me();
  expect(refused.status).toBe(401);
  expect(await errorOf(refused)).toMatchObject({ message: expect.stringContaining('expired') });
});

it('says what the clock shows where it is years ahead of the one that made the token', async () => {
  const token = await tokenFor({ expires: '1m' });
  vi.setSystemTime(Date.UTC(2046, 0, 1));
  const refused = await call('me', { headers: { authorization: `Bearer ${token}` } });
  expect(refused.status).toBe(401);
  expect(await errorOf(refused)).toMatchObject({
    message: expect.stringMatching(/valid until 20[23].*clock shows 2046-.* set the clock/),
  });
});
