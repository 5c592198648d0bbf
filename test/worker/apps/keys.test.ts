import { SELF } from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import { SignJWT } from 'jose';
import { afterAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import type { KeyRequest, NewKey, Right } from '../../../shared/api/keys.ts';
import type { ChatResponse } from '../../../shared/wire/documents.ts';
import { decodeSecrets, TOKEN_AUDIENCE } from '../../../shared/wire/tokens.ts';
import { ENDPOINTS } from '../../../worker/api/openapi/endpoints.ts';
import { app } from '../../../worker/app.ts';
import { forgetKeys } from '../../../worker/apps/known.ts';
import { errorOf, scriptModel, tokenFor } from '../api.ts';
import { openBridge } from '../tunnel/scripted-bridge.ts';

beforeEach(forgetKeys);

it('an operator makes a key, changes it, gives it another secret and deletes it', async () => {
  const made = await makeKey({ origins: ['https://shop.test'], runsPerMinute: 20 });
  expect(made).toMatchObject({ can: ['chat', 'read'], models: [], runsPerMinute: 20 });
  expect(made.secret).toMatch(/^dbk_shop-[0-9a-f]+_[\w-]{43}$/);
  const listed = (await (await operate('keys')).json()) as { items: object[] };
  const { secret, ...shown } = made;
  expect(listed.items).toContainEqual(shown);

  const terms = { can: ['read'], origins: [], models: [] };
  const changed = await operate(`keys/${made.id}`, 'PUT', terms);
  expect(await changed.json()).toEqual({ id: made.id, created: made.created, ...terms });

  const old = await signed(made);
  expect((await use('me', old)).status).toBe(200);
  const renewed = (await (await operate(`keys/${made.id}/secret`, 'POST')).json()) as NewKey;
  expect(renewed.secret).not.toBe(secret);
  expect(await errorOf(await use('me', old))).toMatchObject({ code: 'UNAUTHENTICATED' });
  expect((await use('me', await signed(renewed))).status).toBe(200);

  expect((await operate(`keys/${made.id}`, 'DELETE')).status).toBe(204);
  expect((await operate(`keys/${made.id}`, 'DELETE')).status).toBe(204);
  expect((await use('me', await signed(renewed))).status).toBe(401);
  expect((await operate(`keys/${made.id}/secret`, 'POST')).status).toBe(404);
});

it.each([
  ['is gone', (id: string) => operate(`keys/${id}`, 'DELETE')],
  ['has another secret', (id: string) => operate(`keys/${id}/secret`, 'POST')],
  ['lacks the right', (id: string) => operate(`keys/${id}`, 'PUT', CHAT_ONLY)],
])('a ticket of an app’s user opens nothing more once the key %s', async (_, end) => {
  const key = await makeKey({ origins: ['https://shop.test'] });
  const made = await use('tickets', await signed(key), { method: 'POST', body: ACCOUNT_STREAM });
  const { ticket } = await made.json<{ ticket: string }>();
  const open = async (origin = 'https://shop.test') => {
    const headers = { 'last-event-id': '1', origin };
    const url = `https://drawbridge.test/api/v1/events?ticket=${ticket}`;
    const { status, body } = await SELF.fetch(url, { headers });
    await body?.cancel();
    return status;
  };
  expect(await open('https://evil.test')).toBe(403);
  expect([await open(), await open()]).toEqual([200, 200]);
  expect((await end(key.id)).ok).toBe(true);
  forgetKeys();
  expect([401, 403]).toContain(await open());
});

const CHAT_ONLY = { can: ['chat'], origins: ['https://shop.test'], models: [] };
const ACCOUNT_STREAM = { stream: 'account' };

it('a second key of the same id, and a name of ours, are refused', async () => {
  const { id } = await makeKey();
  expect(await errorOf(await operate('keys', 'POST', { id }))).toMatchObject({
    status: 409,
    code: 'KEY_EXISTS',
  });
  for (const bad of ['drawbridge', 'Shop', 'a--b', '-a', 'a_b', 'x'.repeat(33), '']) {
    const refused = await errorOf(await operate('keys', 'POST', { id: bad }));
    expect(refused, bad).toMatchObject({ code: 'INVALID_REQUEST' });
    expect(refused.message).toMatch(/^id: /);
  }
});

it.each([
  [{ origins: ['https://shop.test/path'] }, 'origins[0]'],
  [{ origins: ['*'] }, 'origins[0]'],
  [{ can: [] }, 'can'],
  [{ can: ['everything'] }, 'can[0]'],
  [{ runsPerMinute: 0 }, 'runsPerMinute'],
  [{ budget: {} }, 'budget'],
  [{ colour: 'red' }, 'colour'],
])('a key with %j is refused by the name of the field', async (terms, field) => {
  const refused = await errorOf(await operate('keys', 'POST', { id: 'bad', ...terms }));
  expect(refused).toMatchObject({ status: 400, code: 'INVALID_REQUEST' });
  expect(refused.message).toContain(field);
});

it('only an operator makes keys', async () => {
  for (const token of [
    await tokenFor(),
    await tokenFor({ claims: BRIDGE }),
    await signed(await makeKey()),
  ]) {
    const refused = await use('keys', token, { method: 'POST', body: { id: 'mine' } });
    expect((await errorOf(refused)).code).toBe('FORBIDDEN');
  }
  const operator = await tokenFor({ claims: { scope: 'operator' } });
  expect((await errorOf(await use('me', operator))).code).toBe('FORBIDDEN');
});

it('two users of an app have accounts of their own, which no person has', async () => {
  scriptModel(() => ({ text: 'Hi.' }));
  const key = await makeKey();
  const [ana, ben] = [await signed(key, { sub: 'ana' }), await signed(key, { sub: 'ben' })];
  expect(await (await use('me', ana)).json()).toMatchObject({ account: `app:${key.id}:ana` });
  const message = { messages: [{ role: 'user', content: 'hello' }] };
  const { conversationId } = await (await use('chat/completions', ana, { body: message })).json<{
    conversationId: string;
  }>();
  expect((await use(`conversations/${conversationId}`, ana)).status).toBe(200);
  expect((await use(`conversations/${conversationId}`, ben)).status).toBe(404);
  expect(await (await use('conversations', ben)).json()).toMatchObject({ items: [] });
  const forged = await tokenFor({ account: `app:${key.id}:ana` });
  expect((await use('me', forged)).status).toBe(401);
});

describe('a token of an app', () => {
  it('may be of a clock that is two minutes ahead', async () => {
    const token = await signed(await makeKey(), { nbf: Date.now() / 1000 + 115 });
    expect((await use('me', token)).status).toBe(200);
  });

  it.each([
    ['a user with a blank', { sub: 'ana b' }],
    ['a user with an invisible character', { sub: 'ana‮' }],
    ['a user of 300 characters', { sub: 'a'.repeat(300) }],
    ['an empty user', { sub: '' }],
    ['an unknown right', { can: ['everything'] }],
    ['a life of two hours', { seconds: 7_200 }],
    ['an end in the past', { seconds: -700 }],
    ['a start in three minutes', { nbf: Date.now() / 1000 + 180 }],
    ['another audience', { aud: 'shop' }],
  ])('with %s is refused, and the reason is given', async (_, claims) => {
    const refused = await errorOf(await use('me', await signed(await makeKey(), claims)));
    expect(refused).toMatchObject({ status: 401, code: 'UNAUTHENTICATED' });
    expect(refused.message.length).toBeGreaterThan('The token is not valid'.length);
  });

  it('signed by another key, by AUTH_SECRET, or by nobody is refused', async () => {
    const [key, other] = [await makeKey(), await makeKey()];
    const master = decodeSecrets(env.AUTH_SECRET ?? '');
    const bytes = master.ok ? master.secrets[0] : new Uint8Array(32);
    const none = `${part({ alg: 'none' })}.${part({ iss: key.id, sub: 'ana', aud: 'drawbridge', exp: 4e9 })}.`;
    const tokens = [
      await signed({ id: key.id, secret: other.secret }),
      await signed({ id: 'no-such-key', secret: key.secret }),
      await signed({ id: 'drawbridge', secret: key.secret }),
      await signed({ id: key.id, secret: bytes }),
      none,
      'x.y.z',
    ];
    for (const token of tokens) expect((await use('me', token)).status, token).toBe(401);
  });

  it('is also valid where the clock of the app is ten minutes ahead', async () => {
    const token = await signed(await makeKey(), { seconds: 3_600 + 590 });
    expect((await use('me', token)).status).toBe(200);
  });

  it('outlives a new AUTH_SECRET that stands before the old one', async () => {
    const key = await makeKey();
    const settings = { AUTH_SECRET: `${btoa('n'.repeat(32))},${env.AUTH_SECRET}` };
    expect((await use('me', await signed(key), {}, settings)).status).toBe(200);
    expect(
      (await use('me', await signed(key), {}, { AUTH_SECRET: btoa('n'.repeat(32)) })).status,
    ).toBe(401);
  });

  it('may do what its key allows and it asks for, and nothing else', async () => {
    const key = await makeKey({ can: ['read', 'chat', 'agents'] });
    const reader = await signed(key, { can: ['read', 'manage'] });
    expect((await use('conversations', reader)).status).toBe(200);
    for (const path of ['chat/completions', 'agents']) {
      const refused = await errorOf(await use(path, reader, { body: {} }));
      expect(refused, path).toMatchObject({ status: 403, code: 'FORBIDDEN' });
    }
    const conversation = `conversations/conv_${crypto.randomUUID()}`;
    expect((await use(conversation, reader, { method: 'DELETE' })).status).toBe(403);
  });

  it('is used by the pages of its app alone', async () => {
    const key = await makeKey({ origins: ['https://shop.test'] });
    const token = await signed(key);
    const from = (origin: string) => use('me', token, { headers: { origin } });
    const allowed = await from('https://shop.test');
    expect([allowed.status, allowed.headers.get('access-control-allow-origin')]).toEqual([
      200,
      'https://shop.test',
    ]);
    for (const origin of ['https://evil.test', 'http://shop.test', 'https://app.test', 'null']) {
      expect(await errorOf(await from(origin)), origin).toMatchObject({ code: 'FORBIDDEN' });
    }
    const preflight = await SELF.fetch('https://drawbridge.test/api/v1/me', {
      method: 'OPTIONS',
      headers: { origin: 'https://shop.test', 'access-control-request-method': 'GET' },
    });
    expect(preflight.status).toBe(204);
  });

  it('names no model but those of its key, the first of which answers by default', async () => {
    const requests = scriptModel(() => ({ text: 'Hi.' }));
    const token = await signed(await makeKey({ models: ['scripted-small', 'scripted'] }));
    const ask = (more: object = {}) =>
      use('chat/completions', token, {
        body: { messages: [{ role: 'user', content: 'x' }], ...more },
      });
    expect((await ask()).status).toBe(200);
    expect(requests.at(-1)?.model).toBe('scripted-small');
    expect((await ask({ model: 'scripted' })).status).toBe(200);
    expect(await errorOf(await ask({ model: 'dear' }))).toMatchObject({ code: 'UNKNOWN_MODEL' });
  });

  it('has the budget of its key where it asks for more or for none', async () => {
    scriptModel(() => ({ text: 'Hi.' }));
    const token = await signed(await makeKey({ budget: { maxTurns: 3, maxTokens: 9_000 } }));
    const budgetOf = async (budget: object | undefined) => {
      const body = { messages: [{ role: 'user', content: 'x' }], budget };
      const answer = await use('chat/completions', token, { body });
      const { metadata } = (await answer.json()) as ChatResponse;
      return metadata.budget?.limits;
    };
    expect(await budgetOf(undefined)).toEqual({ maxTurns: 3, maxTokens: 9_000 });
    expect(await budgetOf({ maxTurns: 9, maxTokens: 100, maxSeconds: 60 })).toEqual({
      maxTurns: 3,
      maxTokens: 100,
      maxSeconds: 60,
    });
  });

  it('begins no more runs than each user, and all users together, may begin', async () => {
    scriptModel(() => ({ text: 'Hi.' }));
    const key = await makeKey({ runsPerMinute: 1, appRunsPerMinute: 2 });
    const run = async (sub: string) => {
      const body = { messages: [{ role: 'user', content: 'x' }] };
      return (await use('chat/completions', await signed(key, { sub }), { body })).status;
    };
    expect([await run('ana'), await run('ana')]).toEqual([200, 429]);
    expect([await run('ben'), await run('cas')]).toEqual([200, 429]);
  });

  it('begins no run once its user, or its app, has used the tokens of the day', async () => {
    scriptModel(() => ({ text: 'Hi.', usage: { prompt_tokens: 60, completion_tokens: 40 } }));
    const key = await makeKey({ tokensPerDay: 50, appTokensPerDay: 150 });
    const run = async (sub: string) => {
      const body = { messages: [{ role: 'user', content: 'x' }] };
      return await use('chat/completions', await signed(key, { sub }), { body });
    };
    expect((await run('ana')).status).toBe(200);
    await expect.poll(async () => (await run('ana')).status).toBe(429);
    const refused = await run('ana');
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
    expect(await errorOf(refused)).toMatchObject({ code: 'QUOTA_EXCEEDED' });
    expect((await run('ben')).status).toBe(200);
    await expect.poll(async () => (await run('cas')).status).toBe(429);
  });
});

describe('the machines of a key', () => {
  it('are those that its users may name, where the machine itself lets them in', async () => {
    scriptModel(() => ({ text: 'Hi.' }));
    const [first, second, other] = [await owned(), await owned(), await owned()];
    const key = await makeKey({
      can: ['chat', 'read', 'machines'],
      bridges: [first.bridgeId, second.bridgeId],
    });
    const user = await signed(key);
    const bridgeOf = async (bridgeId?: string) => {
      const message = { messages: [{ role: 'user', content: 'hello' }], bridgeId };
      const answer = await use('chat/completions', user, { body: message });
      if (answer.status !== 200) return (await errorOf(answer)).code;
      const { conversationId } = await answer.json<{ conversationId: string }>();
      const view = await use(`conversations/${conversationId}`, user);
      return (await view.json<{ bridgeId: string }>()).bridgeId;
    };
    const listed = async () =>
      (await (await use('bridges', user)).json<{ items: { id: string }[] }>()).items;
    expect([await bridgeOf(), await listed()]).toEqual(['NOT_FOUND', []]);
    for (const { bridge } of [first, second, other]) {
      bridge.send({ type: 'grants', names: [`app:${key.id}`] });
    }
    await expect.poll(() => bridgeOf(second.bridgeId)).toBe(second.bridgeId);
    await expect.poll(() => bridgeOf()).toBe(first.bridgeId);
    expect(await bridgeOf(other.bridgeId)).toBe('NOT_FOUND');
    expect((await use(`bridges/${other.bridgeId}`, user)).status).toBe(404);
    expect((await listed()).map(({ id }) => id)).toEqual([first.bridgeId, second.bridgeId]);
    expect(await bridgeOfOther(first.bridgeId)).toBe('NOT_FOUND');
    first.bridge.send({ type: 'grants', names: [`app:${key.id}:someone-else`] });
    await expect.poll(() => bridgeOf()).toBe('NOT_FOUND');
  });

  async function owned() {
    const bridge = await openBridge({ account: `owner-${crypto.randomUUID()}` });
    await bridge.greet();
    return { bridge, bridgeId: bridge.bridgeId };
  }

  async function bridgeOfOther(bridgeId: string) {
    const message = { messages: [{ role: 'user', content: 'hello' }], bridgeId };
    const token = await signed(await makeKey());
    return (await errorOf(await use('chat/completions', token, { body: message }))).code;
  }
});

describe('the secret of a key', () => {
  it('makes tokens for users', async () => {
    const { id, secret } = await makeKey({ can: ['read', 'chat'] });
    const made = await use('tokens', secret, { body: { user: 'ana', can: ['read'], seconds: 60 } });
    const { token, account, expires } = await made.json<{
      token: string;
      account: string;
      expires: string;
    }>();
    expect([made.status, account]).toEqual([201, `app:${id}:ana`]);
    expect(Date.parse(expires) - Date.now()).toBeLessThanOrEqual(60_000);
    expect((await use('me', token)).status).toBe(200);
    expect((await use('chat/completions', token, { body: {} })).status).toBe(403);
  });

  it('is no token, and no other text is the secret', async () => {
    const { id, secret } = await makeKey();
    expect((await use('me', secret)).status).toBe(401);
    for (const wrong of [`${secret}x`, secret.slice(0, -1), `dbk_${id}_`, 'dbk_no-such_x', 'x']) {
      const refused = await use('tokens', wrong, { body: { user: 'ana' } });
      expect(refused.status, wrong).toBe(401);
    }
    expect((await use('tokens', await tokenFor(), { body: { user: 'ana' } })).status).toBe(401);
  });

  it.each([
    [{}, 'user'],
    [{ user: 'a b' }, 'user'],
    [{ user: 'ana', seconds: 5 }, 'seconds'],
    [{ user: 'ana', seconds: 86_400 }, 'seconds'],
    [{ user: 'ana', can: ['all'] }, 'can[0]'],
  ])('makes no token for %j', async (body, field) => {
    const { secret } = await makeKey();
    const refused = await errorOf(await use('tokens', secret, { body }));
    expect(refused.code).toBe('INVALID_REQUEST');
    expect(refused.message).toContain(field);
  });
});

/** Each operation by each kind of token: who gets past the check of access. */
it.each(ENDPOINTS.map((endpoint) => [endpoint.id, endpoint] as const))(
  '%s is open to the tokens that its description names, and to no others',
  async (_, { access, method, path, needs }) => {
    const key = await keyWith(needs && needs !== 'person' ? [needs] : ['read']);
    const others = (['read', 'chat', 'agents', 'manage', 'approve', 'machines'] as const).filter(
      (right) => right !== needs,
    );
    const bridge = `bridge_${crypto.randomUUID()}`;
    const tokens = {
      person: await tokenFor({ account: crypto.randomUUID(), claims: { scope: 'user' } }),
      bridge: await tokenFor({ claims: { scope: 'bridge', bridge } }),
      operator: await tokenFor({ claims: { scope: 'operator' } }),
      app: await signed(key),
      appWithout: await signed(await keyWith(others)),
      secret: key.secret,
      nobody: undefined,
    };
    const place = path.replace('{id}', access === 'bridge' ? bridge : 'x').replace(/\{\w+\}/g, 'x');
    const allowed: string[] = [];
    asked++;
    for (const [kind, token] of Object.entries(tokens)) {
      const response = await SELF.fetch(`https://drawbridge.test${place}`, {
        method: method.toUpperCase(),
        cf: {},
        // Strangers have few requests a minute from one address.
        headers: {
          'cf-connecting-ip': `192.0.2.${asked % 256}`,
          ...(token !== undefined && { authorization: `Bearer ${token}` }),
        },
      });
      await response.body?.cancel();
      if (![401, 403].includes(response.status)) allowed.push(kind);
    }
    expect(allowed).toEqual(needs === 'person' ? ['person'] : ALLOWED[access]);
  },
);

const ALLOWED = {
  open: ['person', 'bridge', 'operator', 'app', 'appWithout', 'secret', 'nobody'],
  user: ['person', 'app'],
  stream: ['person', 'app'],
  bridge: ['bridge'],
  operator: ['operator'],
  app: ['secret'],
  metrics: [],
};

const BRIDGE = { scope: 'bridge', bridge: `bridge_${crypto.randomUUID()}` };

let asked = 0;
let made = 0;

/** One key for all operations that are asked with these rights: none of them changes it. */
const shared = new Map<string, NewKey>();
afterAll(async () => {
  for (const { id } of shared.values()) await operate(`keys/${id}`, 'DELETE');
});

async function keyWith(can: readonly Right[]): Promise<NewKey> {
  const known = shared.get(can.join());
  if (known) return known;
  const key = await newKey({ can: [...can] });
  shared.set(can.join(), key);
  return key;
}

/** Gone after the test: a server has few. */
async function makeKey(terms: Partial<KeyRequest> = {}): Promise<NewKey> {
  const key = await newKey(terms);
  onTestFinished(async () => void (await operate(`keys/${key.id}`, 'DELETE')));
  return key;
}

async function newKey(terms: Partial<KeyRequest>): Promise<NewKey> {
  const id = `shop-${(made++).toString(16)}${crypto.randomUUID().slice(0, 4)}`;
  const response = await operate('keys', 'POST', { id, ...terms });
  expect(response.status).toBe(201);
  return await response.json();
}

async function operate(path: string, method = 'GET', body?: object): Promise<Response> {
  const token = await tokenFor({ account: 'operator', claims: { scope: 'operator' } });
  return await use(path, token, { method, ...(body && { body }) });
}

interface Use {
  readonly method?: string;
  readonly body?: object;
  readonly headers?: Record<string, string>;
}

async function use(
  path: string,
  token: string,
  { body, method = body ? 'POST' : 'GET', headers = {} }: Use = {},
  settings: object = {},
): Promise<Response> {
  const request = new Request(`https://drawbridge.test/api/v1/${path}`, {
    method,
    headers: { authorization: `Bearer ${token}`, ...headers },
    ...(body && { body: JSON.stringify(body) }),
  });
  return await app.fetch(request, { ...env, ...settings });
}

interface Claimed {
  readonly sub?: string;
  readonly can?: readonly (Right | string)[];
  readonly seconds?: number;
  readonly aud?: string;
  readonly nbf?: number;
}

/** As the backend of an app signs it, with the secret's text. */
async function signed(
  { id, secret }: { readonly id: string; readonly secret: string | Uint8Array },
  { sub = 'ana', can, seconds = 600, aud = TOKEN_AUDIENCE, nbf }: Claimed = {},
): Promise<string> {
  const bytes = typeof secret === 'string' ? new TextEncoder().encode(secret) : secret;
  return await new SignJWT({ ...(can && { can }), ...(nbf && { nbf }) })
    .setProtectedHeader({ alg: 'HS256' })
    .setIssuer(id)
    .setAudience(aud)
    .setSubject(sub)
    .setExpirationTime(Math.floor(Date.now() / 1000) + seconds)
    .sign(bytes);
}

function part(value: object): string {
  return btoa(JSON.stringify(value)).replace(/=+$/, '');
}
