import { env } from 'cloudflare:workers';
import { exportJWK, generateKeyPair, SignJWT } from 'jose';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { app } from '../../../worker/app.ts';
import { forgetKeys } from '../../../worker/apps/known.ts';
import { errorOf, tokenFor } from '../api.ts';

/** An identity provider at an address of its own for each test, because the Worker keeps its keys. */
class Provider {
  readonly issuer = `https://id-${crypto.randomUUID()}.test`;
  readonly keys = new Map<string, Awaited<ReturnType<typeof generateKeyPair>>>();
  answer: () => Response | Promise<Response> = async () => Response.json(await this.keySet());
  asked = 0;

  constructor() {
    vi.spyOn(globalThis, 'fetch').mockImplementation(async (input) => {
      const { url } = new Request(input);
      if (url !== `${this.issuer}/jwks`) throw new Error(`unexpected request to ${url}`);
      this.asked++;
      return await this.answer();
    });
  }

  async addKey(kid: string, alg = 'ES256'): Promise<void> {
    this.keys.set(kid, await generateKeyPair(alg, { extractable: true }));
  }

  async keySet() {
    const exported = Array.from(this.keys, async ([kid, { publicKey }]) => ({
      ...(await exportJWK(publicKey)),
      kid,
    }));
    return { keys: await Promise.all(exported) };
  }

  async sign(claims: object, { kid = 'one', aud = 'shop', iss = this.issuer, life = '1h' } = {}) {
    const key = this.keys.get(kid)?.privateKey;
    if (!key) throw new Error(`no key ${kid}`);
    return await new SignJWT({ ...claims })
      .setProtectedHeader({ alg: 'ES256', kid })
      .setIssuer(iss)
      .setAudience(aud)
      .setExpirationTime(life)
      .sign(key);
  }
}

let provider: Provider;
let keyId: string;

beforeEach(async () => {
  forgetKeys();
  provider = new Provider();
  await provider.addKey('one');
  keyId = await makeKey({});
});
afterEach(() => vi.restoreAllMocks());

it('a token of the key’s provider is a user of the app, with the rights of the key', async () => {
  const token = await provider.sign({ sub: 'auth0|42', can: ['manage'] });
  expect(await (await use('me', token)).json()).toMatchObject({
    account: `app:${keyId}:auth0|42`,
  });
  expect((await use('conversations', token)).status).toBe(200);
  expect((await use('agents', token)).status).toBe(403);
  expect(provider.asked).toBe(1);
});

it('a token of a clock that is two minutes ahead counts', async () => {
  const ahead = Date.now() / 1000 + 115;
  const token = await provider.sign({ sub: 'ana', nbf: ahead, iat: ahead });
  expect((await use('me', token)).status).toBe(200);
});

it('the user can be another claim', async () => {
  keyId = await makeKey({ claim: 'email' });
  const token = await provider.sign({ sub: '42', email: 'ana@example.com' });
  expect((await (await use('me', token)).json<{ account: string }>()).account).toMatch(
    /:ana@example\.com$/,
  );
  expect((await use('me', await provider.sign({ sub: '42' }))).status).toBe(401);
});

describe('a token is refused', () => {
  it.each([
    ['for another audience', {}, { aud: 'other' }],
    ['of another issuer', {}, { iss: 'https://id.evil.test' }],
    ['that has ended', {}, { life: '-11m' }],
    ['that ended a minute ago', {}, { life: '-1m' }],
    ['that counts from three minutes on', { nbf: Date.now() / 1000 + 180 }, {}],
    ['that is valid for a week', {}, { life: '7d' }],
    ['of a user with a line end', { sub: 'ana\nben' }, {}],
    ['whose user is a number', { sub: 42 }, {}],
  ])('%s', async (_, claims, how) => {
    const refused = await use('me', await provider.sign({ sub: 'ana', ...claims }, how));
    expect(await errorOf(refused)).toMatchObject({ status: 401, code: 'UNAUTHENTICATED' });
  });

  it('that is signed with the provider’s public key as a secret', async () => {
    const [key] = (await provider.keySet()).keys;
    const token = await new SignJWT({ sub: 'ana' })
      .setProtectedHeader({ alg: 'HS256', kid: 'one' })
      .setIssuer(provider.issuer)
      .setAudience('shop')
      .setExpirationTime('1h')
      .sign(new TextEncoder().encode(JSON.stringify(key)));
    expect((await use('me', token)).status).toBe(401);
  });

  it('of a key that the provider does not publish', async () => {
    const other = new Provider();
    await other.addKey('two');
    const token = await other.sign({ sub: 'ana' }, { kid: 'two', iss: provider.issuer });
    vi.restoreAllMocks();
    vi.spyOn(globalThis, 'fetch').mockImplementation(async () =>
      Response.json(await provider.keySet()),
    );
    expect((await use('me', token)).status).toBe(401);
  });
});

it.each([
  ['is down', () => new Response('no', { status: 503 })],
  ['answers with a page', () => new Response('<html>')],
  ['answers with no keys', () => Response.json({ error: 'x' })],
  ['sends a redirect', () => Response.redirect('https://evil.test', 302)],
  ['cannot be reached', () => Promise.reject(new TypeError('connection refused'))],
])(
  'a provider that %s makes the request fail for now, and the next one work',
  async (_, answer) => {
    const { answer: right } = provider;
    provider.answer = answer;
    const token = await provider.sign({ sub: 'ana' });
    expect(await errorOf(await use('me', token))).toMatchObject({
      status: 503,
      code: 'UNAVAILABLE',
    });
    provider.answer = right;
    expect((await use('me', token)).status).toBe(200);
  },
);

async function makeKey(more: object): Promise<string> {
  const id = `idp-${crypto.randomUUID().slice(0, 8)}`;
  const { issuer } = provider;
  const own = { issuer, jwksUrl: `${issuer}/jwks`, audience: 'shop', ...more };
  // The one of before has the same issuer.
  const operator = await tokenFor({ account: 'operator', claims: { scope: 'operator' } });
  if (keyId) await use(`keys/${keyId}`, operator, 'DELETE');
  const made = await use('keys', operator, 'POST', { id, provider: own });
  expect(made.status).toBe(201);
  return id;
}

async function use(path: string, token: string, method = 'GET', body?: object): Promise<Response> {
  const request = new Request(`https://drawbridge.test/api/v1/${path}`, {
    method,
    headers: { authorization: `Bearer ${token}` },
    ...(body && { body: JSON.stringify(body) }),
  });
  return await app.fetch(request, { ...env });
}
