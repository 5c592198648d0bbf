import { env, runInDurableObject, SELF } from 'cloudflare:test';
import { decodeJwt, SignJWT } from 'jose';
import { describe, expect, it, vi } from 'vitest';
import { Ticket } from '../../../shared/api/conversations.ts';
import { TICKET_LIMITS } from '../../../worker/account/limits.ts';
import { formatFollowRequest } from '../../../worker/conversation/reading/requests.ts';
import { SESSION_CLOSE } from '../../../worker/conversation/tape/followers.ts';
import { call, chat, errorOf, scriptModel, tokenFor } from '../api.ts';
import { SseReader } from '../follow/sse-reader.ts';
import { clientOf, clientWith, signIn } from '../people/people.ts';

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
  const { returnMs, keptMs } = TICKET_LIMITS;
  vi.spyOn(Date, 'now').mockReturnValue(now + returnMs + keptMs + 2_000);
  const other = { id: crypto.randomUUID(), firstMs: Number.POSITIVE_INFINITY, expiresMs: now };
  await env.ACCOUNTS.get(env.ACCOUNTS.idFromName(account)).redeem(other, false);
  vi.restoreAllMocks();
  expect(await usedBy(account)).toBe(1);
  expect((await open(path, ticket)).status).toBe(200);
});

describe('an EventSource that comes back', () => {
  const back = (id: number | string | null | undefined) => ({
    headers: { 'last-event-id': String(id) },
  });

  it('gets the rest by the same address, as often as it is cut off', async () => {
    const { account, id } = await answered();
    const path = `chat/completions/${id}/events`;
    const ticket = await ticketFor({ responseId: id }, account);
    const whole = await new SseReader(await open(path, ticket)).toEnd();
    for (const at of [0, 1, 2]) {
      const rest = await new SseReader(await open(path, ticket, back(whole[at]?.id))).toEnd();
      expect(rest.map(({ event }) => event.type)).toEqual(
        whole.slice(at + 1).map(({ event }) => event.type),
      );
    }
    const last = whole.at(-1)?.id;
    expect((await open(path, ticket, back(last))).status).toBe(204);
    for (const wrong of ['0', '-1', '1.5', 'x', '', `${last},${last}`])
      expect((await open(path, ticket, back(wrong))).status).toBe(401);
    expect((await open(`${path}?after=1`, ticket)).status).toBe(401);
    expect((await open(`chat/completions/${id}`, ticket, back(1))).status).toBe(401);
  });

  it('ends the connection that it had', async () => {
    const { account, conversationId } = await answered();
    const path = `conversations/${conversationId}/events`;
    const ticket = await ticketFor({ conversationId }, account);
    const first = new SseReader(await open(path, ticket));
    const cursor = (await first.untilType('done')).at(-1)?.id;
    const other = new SseReader(await open(path, await ticketFor({ conversationId }, account)));
    await other.untilType('done');
    const second = new SseReader(await open(path, ticket, back(cursor)));
    await first.toEnd();
    await chat('again', { account, conversationId });
    expect((await second.untilType('done')).length).toBeGreaterThan(2);
    await other.untilType('done');
    await second.leave();
    await other.leave();
  });

  it('keeps its connection where the adapter of the earlier one attaches again', async () => {
    const account = `ada-${crypto.randomUUID()}`;
    const object = env.ACCOUNTS.get(env.ACCOUNTS.idFromName(account));
    const attach = async (usedMs: number) => {
      const following = {
        framing: 'json',
        responseId: null,
        ticket: { id: 'one', usedMs },
      } as const;
      const headers = { upgrade: 'websocket' };
      const url = formatFollowRequest({ account }, following, 0);
      const { webSocket } = await object.fetch(url, { headers });
      const closed = new Promise<number>((resolve) =>
        webSocket?.addEventListener('close', ({ code }) => resolve(code)),
      );
      webSocket?.accept();
      return { closed };
    };
    const later = await attach(2);
    const earlier = await attach(1);
    expect(await earlier.closed).toBe(SESSION_CLOSE);
    const latest = await attach(3);
    expect(await Promise.race([later.closed, latest.closed.then(() => 'latest')])).toBe(
      SESSION_CLOSE,
    );
  });

  it('may do so with a ticket that it never used, within the first minute alone', async () => {
    const { account, id } = await answered();
    const path = `chat/completions/${id}/events`;
    const [used, unused] = [
      await ticketFor({ responseId: id }, account),
      await ticketFor({ responseId: id }, account),
    ];
    await (await open(path, used, back(1))).body?.cancel();
    const now = Date.now();
    const at = async (aheadMs: number, ticket: string, init?: RequestInit) => {
      vi.spyOn(Date, 'now').mockReturnValue(now + aheadMs);
      const { status, body } = await open(path, ticket, init);
      await body?.cancel();
      vi.restoreAllMocks();
      return status;
    };
    const { lifeMs, returnMs } = TICKET_LIMITS;
    expect(await at(lifeMs, unused)).toBe(401);
    expect(await at(lifeMs, unused, back(1))).toBe(401);
    expect(await at(returnMs - 2_000, used, back(1))).toBe(200);
    expect(await at(returnMs - 2_000, used)).toBe(401);
    expect(await at(returnMs, used, back(1))).toBe(401);
  });

  it('cannot once the token has ended that the ticket was made with', async () => {
    const { account, id } = await answered();
    const token = await tokenFor({ account, expires: '2m' });
    const headers = { authorization: `Bearer ${token}` };
    const { ticket } = Ticket.parse(
      await (await request({ responseId: id }, account, headers)).json(),
    );
    expect(decodeJwt(ticket).exp).toBe(decodeJwt(token).exp);
  });

  it('cannot once its session has ended', async () => {
    const { account, id } = await answered();
    const kept = await signIn(account);
    const { ticket } = await clientWith(kept).createTicket({ responseId: id });
    const path = `chat/completions/${id}/events`;
    await (await open(path, ticket)).body?.cancel();
    await (await open(path, ticket, back(1))).body?.cancel();
    await (await clientOf(account)).endSession(kept.session);
    expect(await errorOf(await open(path, ticket, back(1)))).toMatchObject({
      status: 401,
      code: 'SESSION_ENDED',
    });
  });
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

function request(body: unknown, account: string, headers = {}): Promise<Response> {
  return call('tickets', { body: JSON.stringify(body), account, headers });
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
  const seconds = Math.floor(Date.now() / 1000);
  return await new SignJWT({ path, first: seconds + 60, until: seconds + 60 })
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
