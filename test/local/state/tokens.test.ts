import { decodeProtectedHeader, jwtVerify } from 'jose';
import { expect, test } from 'vitest';
import { isTokenFresh, mintToken, type TokenGrant } from '../../../local/state/tokens.ts';

const SECRET = Buffer.alloc(32, 1).toString('base64url');
const NOW = new Date('2026-11-01T00:00:00Z');
const SECONDS = NOW.getTime() / 1000;
const MONTH_SECONDS = 30 * 24 * 60 * 60;

const STANDARD_CLAIMS = {
  iss: 'drawbridge',
  aud: 'drawbridge',
  sub: 'local',
  iat: SECONDS,
  exp: SECONDS + MONTH_SECONDS,
};

const GRANTS: [TokenGrant, object][] = [
  [{ scope: 'user' }, { ...STANDARD_CLAIMS, scope: 'user' }],
  [
    { scope: 'bridge', bridgeId: 'bridge_1' },
    { ...STANDARD_CLAIMS, scope: 'bridge', bridge: 'bridge_1' },
  ],
];

test.each(GRANTS)('a token for %o says exactly that', async (grant, claims) => {
  const token = await mintToken(SECRET, grant, NOW);
  const key = Buffer.from(SECRET, 'base64url');
  expect((await jwtVerify(token, key, { currentDate: NOW })).payload).toEqual(claims);
  expect(decodeProtectedHeader(token)).toEqual({ alg: 'HS256' });
});

test('a token signed with another secret is not fresh', async () => {
  const other = Buffer.alloc(32, 2).toString('base64url');
  expect(await isTokenFresh(SECRET, await mintToken(other, { scope: 'user' }, NOW), NOW)).toBe(
    false,
  );
});
