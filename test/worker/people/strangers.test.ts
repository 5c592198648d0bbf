import { listDurableObjectIds, SELF } from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import { SignJWT } from 'jose';
import { expect, it, vi } from 'vitest';
import { beginLogin, enter, newSessionKey, sessionTokens } from '../../../client/index.ts';
import { newSessionId } from '../../../shared/ids.ts';
import { LOGIN_PROOF, PROOF_AUDIENCE } from '../../../shared/wire/tokens.ts';
import { RATE_LIMITS } from '../../../worker/account/limits.ts';
import { errorOf, tokenFor } from '../api.ts';
import { clientOf, expectRefused, newAccount, SERVER, signIn } from './people.ts';

const HOLDER = { name: 'ana-laptop', kind: 'machine' } as const;

/** The server as a client at this address reaches it. With `cf`, Cloudflare itself has written the address. */
function serverAt(address: string, cf?: CfProperties) {
  const from = async (input: unknown, init: object = {}) => {
    const headers = new Headers(Object(init).headers);
    headers.set('cf-connecting-ip', address);
    return await SELF.fetch(input as string, { ...init, headers, ...(cf && { cf }) });
  };
  return { url: SERVER.url, fetch: from as typeof fetch };
}

async function codesOf(count: number, attempt: (number: number) => Promise<unknown>) {
  const codes: string[] = [];
  for (let number = 0; number < count; number++) {
    codes.push(
      await attempt(number).then(
        () => 'OK',
        (error) => error.code,
      ),
    );
  }
  return codes;
}

it('a stranger who names accounts makes no object for them', async () => {
  const signer = await newSessionKey();
  const before = (await listDurableObjectIds(env.ACCOUNTS)).length;
  for (const account of [newAccount(), 'app:shop:1', '\ud800', 'x'.repeat(300), '../../etc']) {
    const kept = { account, session: newSessionId(crypto.randomUUID()), signer };
    await expectRefused(sessionTokens(SERVER, kept)(undefined, undefined), 'SESSION_ENDED');
  }
  expect(await listDurableObjectIds(env.ACCOUNTS)).toHaveLength(before);
});

it('a stranger does not use up the tokens of others where no address is known', async () => {
  const kept = await signIn(newAccount());
  const body = { account: 'x', session: newSessionId(crypto.randomUUID()), proof: 'x' };
  const flood = () =>
    SELF.fetch(`${SERVER.url}/api/v1/sessions/token`, {
      method: 'POST',
      body: JSON.stringify(body),
    });
  const answers = await Promise.all(Array.from({ length: 130 }, flood));
  expect(await errorOf(answers.at(-1) as Response)).toMatchObject({ code: 'RATE_LIMITED' });
  expect(await sessionTokens(SERVER, kept)(undefined, undefined)).toMatch(/^ey/);
});

it('the address that a client writes itself is neither shown nor counted', async () => {
  const person = await clientOf(newAccount());
  const signer = await newSessionKey();
  const { code } = await beginLogin(serverAt('10.0.0.5'), HOLDER, signer);
  expect(await person.getLogin(code)).not.toHaveProperty('address');
  const known = await beginLogin(serverAt('192.0.2.7', { colo: 'ZRH' }), HOLDER, signer);
  expect(await person.getLogin(known.code)).toMatchObject({ address: '192.0.2.7' });
});

it.each([
  ['192.0.2.9', () => '192.0.2.9'],
  ['2001:db8:1:2::/64', (number: number) => `2001:db8:1:2::${number + 1}`],
])('the network %s begins few logins a minute, and another one can still', async (_, addressOf) => {
  const signer = await newSessionKey();
  const begin = (address: string) => beginLogin(serverAt(address, { colo: 'ZRH' }), HOLDER, signer);
  const codes = await codesOf(14, (number) => begin(addressOf(number)));
  expect([codes[0], codes.at(-1)]).toEqual(['OK', 'RATE_LIMITED']);
  await begin('198.51.100.1');
  await begin('2001:db8:1:3::1');
});

const own = (clientIp: string) => ({ clientIp }) as unknown as CfProperties;

it.each([
  ['203.0.113.5:4711', '203.0.113.5'],
  ['[::ffff:203.0.113.6]:4711', '203.0.113.6'],
  ['[2001:db8::1]:4711', '2001:db8::1'],
  ['[fe80::1%eth0]:4711', 'fe80::1'],
  ['127.0.0.1:4711', undefined],
  ['[::ffff:127.0.0.1]:4711', undefined],
  ['[::1]:4711', undefined],
  ['unix:/run/x', undefined],
])(
  'a server of one’s own takes the address %s from the connection alone',
  async (clientIp, seen) => {
    const person = await clientOf(newAccount());
    const server = serverAt('10.0.0.5', own(clientIp));
    const { code } = await beginLogin(server, HOLDER, await newSessionKey());
    expect((await person.getLogin(code)).address).toBe(seen);
  },
);

it('on a server of one’s own, one stranger uses up no logins of others', async () => {
  const signer = await newSessionKey();
  const begin = (clientIp: string) =>
    beginLogin(serverAt('1.1.1.1', own(clientIp)), HOLDER, signer);
  const codes = await codesOf(14, (port) => begin(`203.0.113.20:${port + 1}`));
  expect([codes[0], codes.at(-1)]).toEqual(['OK', 'RATE_LIMITED']);
  await begin('203.0.113.21:1');
});

it('refused tokens are counted, and valid ones from the same network go on', async () => {
  const from = (authorization: string) =>
    SELF.fetch(`${SERVER.url}/api/v1/models`, {
      headers: { authorization },
      cf: own('203.0.113.30:1'),
    } as RequestInit);
  const warned = vi.spyOn(console, 'warn');
  // The bucket refills meanwhile.
  const flood = Array.from({ length: RATE_LIMITS.refusedPerMinute * 1.5 }, () => from('Bearer x'));
  const statuses = (await Promise.all(flood)).map(({ status }) => status);
  expect(new Set(statuses)).toEqual(new Set([401, 429]));
  const lines = warned.mock.calls.filter(([line]) => String(line).includes('rate_limited'));
  expect(lines).toHaveLength(1);
  const token = await tokenFor({ account: newAccount(), claims: { scope: 'user' } });
  expect((await from(`Bearer ${token}`)).status).toBe(200);
});

it('a proof of a new key that names no server lets no one in', async () => {
  const { privateKey, publicKey: jwk } = await newSessionKey();
  const proof = await new SignJWT({ jti: crypto.randomUUID() })
    .setProtectedHeader({ alg: 'ES256', jwk })
    .setAudience(PROOF_AUDIENCE)
    .setSubject(LOGIN_PROOF)
    .setIssuedAt()
    .sign(privateKey as CryptoKey);
  const body = JSON.stringify({ ...HOLDER, proof });
  const answer = await SELF.fetch(`${SERVER.url}/api/v1/logins`, { method: 'POST', body });
  expect(await errorOf(answer)).toMatchObject({
    status: 401,
    message: expect.stringContaining('does not name the server'),
  });
});

it('a proof for another purpose, another secret or another session gets nothing', async () => {
  const person = await clientOf(newAccount());
  const [first, second] = [await person.createInvitation(), await person.createInvitation()];
  const signer = await newSessionKey();
  const sent: { path: string; body: Record<string, unknown> }[] = [];
  const listening = {
    ...SERVER,
    fetch: (async (input, init) => {
      sent.push({ path: String(input), body: JSON.parse(String(init?.body)) });
      return await SELF.fetch(input as string, init as object);
    }) as typeof fetch,
  };
  await beginLogin(listening, HOLDER, signer);
  await enter(listening, first.secret, HOLDER, signer);
  const [login, entry] = sent;
  const attempts = [
    { ...entry?.body, secret: second.secret },
    { ...entry?.body, secret: second.secret, proof: login?.body['proof'] },
  ];
  for (const body of attempts) {
    const answer = await SELF.fetch(String(entry?.path), {
      method: 'POST',
      body: JSON.stringify(body),
    });
    expect(await errorOf(answer)).toMatchObject({ status: 401, code: 'UNAUTHENTICATED' });
  }
});

it('a server that passes on what a device signs for it gets no session', async () => {
  const person = await clientOf(newAccount());
  const { secret } = await person.createInvitation();
  const signer = await newSessionKey();
  const passingOn = {
    url: 'https://evil.example',
    fetch: (async (input, init) => {
      const url = String(input).replace('evil.example', 'drawbridge.test');
      return await SELF.fetch(url, init as object);
    }) as typeof fetch,
  };
  const refused = { code: 'UNAUTHENTICATED', message: expect.stringContaining('evil.example') };
  await expect(beginLogin(passingOn, HOLDER, signer)).rejects.toMatchObject(refused);
  await expect(enter(passingOn, secret, HOLDER, signer)).rejects.toMatchObject(refused);
  await enter(SERVER, secret, HOLDER, signer);
});
