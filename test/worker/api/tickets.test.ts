import { env, runInDurableObject, SELF } from 'cloudflare:test';
import { SignJWT } from 'jose';
import { describe, expect, it, vi } from 'vitest';
import { Ticket } from '../../../shared/api/conversations.ts';
import { TICKET_LIMITS } from '../../../worker/account/limits.ts';
import { call, chat, errorOf, scriptModel, tokenFor } from '../api.ts';
import { SseReader } from '../follow/sse-reader.ts';

it('opens the stream of a response, to its end, without a token', async () => {
  const { account, id } = await answered();
  const ticket = await ticketFor({ responseId: id }, account);
  const response = await open(`chat/completions/${id}/events`, ticket);
  expect(response.status).toBe(200);
  expect((await new SseReader(response).toEnd()).at(-1)?.event.type).toBe('done');
});

it('opens the stream of a conversation, from a cursor, in either framing', async () => {
  const { account, conversationId } = await answered();
  const path = `conversations/${conversationId}/events`;
  const reader = new SseReader(await open(path, await ticketFor({ conversationId }, account)));
  const cursor = (await reader.untilType('done')).at(-2)?.id;
  await reader.leave();
  const ticket = await ticketFor({ conversationId }, account);
  const more = new SseReader(await open(`${path}?framing=data&after=${cursor}`, ticket));
  await more.readOnce();
  while (more.raw.length === 0) await more.readOnce();
  expect(more.raw[0]?.data).toContain('"type":"done"');
  await more.leave();
});

it('says when it expires', async () => {
  const { account, conversationId } = await answered();
  const response = await request({ conversationId }, account);
  expect(response.status).toBe(201);
  const { expires } = Ticket.parse(await response.json());
  const leftMs = Date.parse(expires) - Date.now();
  expect(leftMs).toBeGreaterThan(TICKET_LIMITS.lifeMs - 5_000);
  expect(leftMs).toBeLessThanOrEqual(TICKET_LIMITS.lifeMs);
});

it('can be read by a page of an allowed origin, with no preflight', async () => {
  const { account, id } = await answered();
  const path = `chat/completions/${id}/events`;
  const headers = { origin: 'https://app.test', accept: 'text/event-stream' };
  const response = await open(path, await ticketFor({ responseId: id }, account), { headers });
  expect([response.status, response.headers.get('access-control-allow-origin')]).toEqual([
    200,
    'https://app.test',
  ]);
  await response.body?.cancel();
  const refused = await open(path, 'nonsense', { headers });
  expect([refused.status, refused.headers.get('access-control-allow-origin')]).toEqual([
    401,
    'https://app.test',
  ]);
});

it('a ticket lets one of two simultaneous readers in', async () => {
  const { account, id } = await answered();
  const ticket = await ticketFor({ responseId: id }, account);
  const path = `chat/completions/${id}/events`;
  const both = await Promise.all([open(path, ticket), open(path, ticket)]);
  expect(both.map(({ status }) => status).sort()).toEqual([200, 401]);
  for (const { body } of both) await body?.cancel();
  expect(await errorOf(await open(path, ticket))).toMatchObject({
    status: 401,
    code: 'UNAUTHENTICATED',
    message: 'The ticket was used already: get a new one for each stream',
  });
});

it('forgets used tickets after their expiry', async () => {
  const { account, id } = await answered();
  const path = `chat/completions/${id}/events`;
  for (let use = 0; use < 3; use++) {
    await (await open(path, await ticketFor({ responseId: id }, account))).body?.cancel();
  }
  expect(await usedBy(account)).toBe(3);
  const ticket = await ticketFor({ responseId: id }, account);
  const now = Date.now();
  vi.spyOn(Date, 'now').mockReturnValue(now + TICKET_LIMITS.lifeMs + TICKET_LIMITS.keptMs + 2_000);
  await env.ACCOUNTS.get(env.ACCOUNTS.idFromName(account)).redeem(crypto.randomUUID(), now);
  vi.restoreAllMocks();
  expect(await usedBy(account)).toBe(1);
  expect((await open(path, ticket)).status).toBe(200);
});

describe('a ticket opens nothing else', () => {
  it.each<[string, (ids: Ids) => string, string]>([
    [
      'the stream of the conversation',
      (ids) => `conversations/${ids.conversationId}/events`,
      'GET',
    ],
    ['the response', ({ id }) => `chat/completions/${id}`, 'GET'],
    ['the stream of another response', ({ id }) => `chat/completions/${next(id)}/events`, 'GET'],
    ['the list', () => 'conversations', 'GET'],
    ['who it belongs to', () => 'me', 'GET'],
    ['a cancel', ({ id }) => `chat/completions/${id}/cancel`, 'POST'],
    ['its own path with POST', ({ id }) => `chat/completions/${id}/events`, 'POST'],
    ['its own path with HEAD', ({ id }) => `chat/completions/${id}/events`, 'HEAD'],
  ])('%s', async (_, pathOf, method) => {
    const ids = await answered();
    const ticket = await ticketFor({ responseId: ids.id }, ids.account);
    expect((await open(pathOf(ids), ticket, { method })).status).toBe(401);
    const own = await open(`chat/completions/${ids.id}/events`, ticket);
    expect(own.status).toBe(200);
    await own.body?.cancel();
  });

  it('a ticket is no token', async () => {
    const { account, id } = await answered();
    const ticket = await ticketFor({ responseId: id }, account);
    const headers = { authorization: `Bearer ${ticket}` };
    expect((await call(`chat/completions/${id}/events`, { headers })).status).toBe(401);
  });
});

it.each<[string, (path: string, account: string) => Promise<string>, string]>([
  ['a text that is none', async () => 'abc', 'not valid'],
  ['an empty one', async () => '', 'not valid'],
  ['a token', async (_, account) => tokenFor({ account }), 'not valid'],
  ['one signed with another secret', (path, sub) => forged(path, sub, 'x'.repeat(40)), 'not valid'],
  ['one that has expired', (path, sub) => forged(path, sub, undefined, '-1s'), 'set the clock'],
])('turns %s away', async (_, make, message) => {
  const { account, id } = await answered();
  const path = `chat/completions/${id}/events`;
  const error = await errorOf(await open(path, await make(`/api/v1/${path}`, account)));
  expect(error).toMatchObject({
    status: 401,
    code: 'UNAUTHENTICATED',
    message: expect.stringContaining(message),
  });
});

it('is made for what is there and is the caller’s', async () => {
  const { account, id, conversationId } = await answered();
  for (const [body, by] of [
    [{ conversationId }, 'eve'],
    [{ responseId: id }, 'eve'],
    [{ responseId: next(id) }, account],
    [{ conversationId: 'conv_11111111-1111-4111-8111-111111110000' }, account],
  ] as const) {
    expect(await errorOf(await request(body, by))).toMatchObject({
      status: 404,
      code: 'NOT_FOUND',
    });
  }
  for (const body of [{}, { conversationId, responseId: id }, { path: '/api/v1/me' }, [], 'x']) {
    expect((await request(body, account)).status).toBe(400);
  }
});

interface Ids {
  readonly account: string;
  readonly id: string;
  readonly conversationId: string;
}

async function answered(): Promise<Ids> {
  const account = `ada-${crypto.randomUUID()}`;
  scriptModel(() => ({ text: 'hi' }));
  const { id, conversationId } = await chat('hello', { account });
  return { account, id, conversationId };
}

function request(body: unknown, account: string): Promise<Response> {
  return call('tickets', { body: JSON.stringify(body), account });
}

async function ticketFor(body: unknown, account: string): Promise<string> {
  return Ticket.parse(await (await request(body, account)).json()).ticket;
}

function open(path: string, ticket: string, init: RequestInit = {}): Promise<Response> {
  const url = new URL(`https://drawbridge.test/api/v1/${path}`);
  url.searchParams.set('ticket', ticket);
  return SELF.fetch(url.href, init);
}

/** The id of the response after it, which does not exist. */
function next(id: string): string {
  return `${id.slice(0, -1)}${Number(id.slice(-1)) + 1}`;
}

async function forged(
  path: string,
  account: string,
  secret?: string,
  expires = '1m',
): Promise<string> {
  const key = secret
    ? new TextEncoder().encode(secret)
    : Uint8Array.from(atob(env.AUTH_SECRET ?? ''), (character) => character.charCodeAt(0));
  return await new SignJWT({ path, until: Date.now() / 1000 + 60 })
    .setProtectedHeader({ alg: 'HS256' })
    .setIssuer('drawbridge')
    .setAudience('drawbridge-stream')
    .setSubject(account)
    .setJti(crypto.randomUUID())
    .setExpirationTime(expires)
    .sign(key);
}

function usedBy(account: string): Promise<unknown> {
  const stub = env.ACCOUNTS.get(env.ACCOUNTS.idFromName(account));
  return runInDurableObject(
    stub,
    (_, { storage }) => storage.sql.exec('select count(*) as used from tickets').one()['used'],
  );
}
