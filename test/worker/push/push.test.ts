import { SELF } from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import { base64url, createLocalJWKSet, jwtVerify } from 'jose';
import { expect, it, vi } from 'vitest';
import type { ScriptedReply } from '../../far-ends/reply-script.ts';
import { create, untilStatus } from '../agents/agents.ts';
import { call, chat, errorOf } from '../api.ts';
import { newAccount } from '../conversation/conversing.ts';
import { clientOf, clientWith, SERVER, signIn } from '../people/people.ts';
import { configure } from '../settings.ts';
import { ALL, QUESTION, slowly, untilReceived } from './news.ts';
import { type Browser, newBrowser, type Received, servePushes } from './push-service.ts';

/** A signed-in browser that wants notifications, and a client of its session. */
async function subscribe(account: string, kinds = ALL, browser?: Browser) {
  const kept = await signIn(account, { name: 'phone', kind: 'browser' });
  const client = clientWith(kept);
  const subscriber = browser ?? (await newBrowser());
  await client.setPush({ subscription: subscriber.subscription, kinds });
  return { client, browser: subscriber, session: kept.session };
}

/** The account has the end of the answer, so a notification would have begun. */
async function untilListed(account: string, conversationId: string): Promise<void> {
  await vi.waitFor(async () => {
    const { items } = await (await clientOf(account)).listUsage();
    const listed = await (await clientOf(account)).listConversations();
    expect([items.length, listed.items.map(({ id }) => id)]).toEqual([1, [conversationId]]);
  });
}

it('a question reaches the browser, encrypted for it and signed by the server', async () => {
  const account = newAccount();
  const received = servePushes(() => QUESTION);
  const { client, browser } = await subscribe(account);
  const { conversationId } = await client.sendMessage({
    messages: [{ role: 'user', content: 'secret words' }],
  });
  await untilReceived(received);
  const [push] = received as [Received];
  const { title } = await client.getConversation(conversationId);
  expect(await browser.read(push)).toEqual({
    web_push: 8030,
    notification: {
      title,
      body: 'Waits for you',
      navigate: `${SERVER.url}/#/c/${conversationId}`,
      app_badge: '1',
    },
  });
  expect([push.url, push.redirect]).toEqual([browser.subscription.endpoint, 'manual']);
  expect(Object.fromEntries(push.headers)).toMatchObject({
    ttl: '86400',
    urgency: 'high',
    topic: expect.stringMatching(/^[\w-]{32}$/),
    'content-encoding': 'aes128gcm',
  });
  const { publicKey } = await client.getPush();
  const [, token = '', key] =
    /^vapid t=(\S+), k=(\S+)$/.exec(push.headers.get('authorization') ?? '') ?? [];
  expect(key).toBe(publicKey);
  const { payload } = await jwtVerify(token, verifierOf(publicKey));
  expect(payload).toMatchObject({
    aud: 'https://fcm.googleapis.com',
    sub: SERVER.url,
  });
  expect(payload.exp).toBeLessThan(Date.now() / 1_000 + 24 * 60 * 60);
});

it('everything that a conversation sends has the same topic, and another one another', async () => {
  const account = newAccount();
  const received = servePushes(() => QUESTION);
  const { client } = await subscribe(account);
  const messages = [{ role: 'user' as const, content: 'go' }];
  const { conversationId } = await client.sendMessage({ messages });
  await untilReceived(received);
  await client.sendMessage({ messages, conversationId, delivery: 'interrupt' });
  await untilReceived(received, 2);
  await client.sendMessage({ messages });
  await untilReceived(received, 3);
  const topics = received.map(({ headers }) => headers.get('topic'));
  expect(topics[0]).toBe(topics[1]);
  expect(topics[0]).not.toBe(topics[2]);
});

it('an answer that took long is announced, and a short one is not', async () => {
  const account = newAccount();
  const received = servePushes(() => ({ text: 'Done.' }));
  const { browser } = await subscribe(account);
  const { conversationId } = await chat('quick', { account });
  await untilListed(account, conversationId);
  expect(received).toEqual([]);
  vi.mocked(globalThis.fetch).mockRestore();
  const later = servePushes(slowly({ text: 'Done.' }));
  await chat('slow', { account, conversationId });
  await untilReceived(later);
  expect(later[0]?.headers.get('urgency')).toBe('normal');
  expect(await browser.read(later[0] as Received)).toMatchObject({
    notification: { title: 'quick', body: 'The answer is complete', app_badge: '0' },
  });
});

it('the end and the failure of an agent are announced, however short it worked', async () => {
  const account = newAccount();
  let reply: ScriptedReply = { text: 'Done.' };
  const received = servePushes(() => reply);
  const { browser } = await subscribe(account);
  const { id } = await create(account);
  await untilStatus(account, id, 'completed');
  await untilReceived(received);
  reply = { text: '' };
  const failing = await create(account);
  await untilStatus(account, failing.id, 'error');
  await untilReceived(received, 2);
  const bodies = await Promise.all(received.map((push) => browser.read(push)));
  expect(bodies).toMatchObject([
    { notification: { body: 'The answer is complete' } },
    { notification: { body: 'The answer failed' } },
  ]);
});

it('a browser gets only the kinds that it wants, and a private conversation has no title', async () => {
  const account = newAccount();
  const received = servePushes(slowly(QUESTION));
  await subscribe(account, { ...ALL, waiting: false });
  const { client, browser } = await subscribe(account, { ...ALL, ended: false });
  await client.sendMessage({
    messages: [{ role: 'user', content: 'my diagnosis' }],
    deleteAfterHours: 1,
  });
  await untilReceived(received);
  expect(await browser.read(received[0] as Received)).toMatchObject({
    notification: { title: 'Private conversation', body: 'Waits for you' },
  });
});

it.each([404, 410])('an answer %i of the push service ends the subscription', async (status) => {
  const account = newAccount();
  const received = servePushes(
    () => ({ text: 'Done.' }),
    () => new Response(null, { status }),
  );
  const { client } = await subscribe(account);
  const { id } = await create(account);
  await untilStatus(account, id, 'completed');
  await untilReceived(received);
  await vi.waitFor(async () => expect((await client.getPush()).subscribed).toBeNull());
});

it('a push service that fails changes nothing, and the log does not name the browser', async () => {
  const account = newAccount();
  const lines: string[] = [];
  vi.spyOn(console, 'warn').mockImplementation((line: string) => void lines.push(line));
  const received = servePushes(
    () => ({ text: 'Done.' }),
    () => new Response(null, { status: 503 }),
  );
  const { client, browser } = await subscribe(account);
  const { id } = await create(account);
  await untilStatus(account, id, 'completed');
  await untilReceived(received);
  const { endpoint } = browser.subscription;
  await vi.waitFor(() => expect(lines.join()).toContain('push_failed'));
  expect(lines.join()).not.toContain(endpoint.slice(-12));
  expect((await client.getPush()).subscribed).toEqual({
    service: 'web_push',
    endpoint,
    kinds: ALL,
  });
});

it('a subscription ends with its session, and by its own word', async () => {
  const account = newAccount();
  const received = servePushes(() => ({ text: 'Done.' }));
  const ended = await subscribe(account);
  const left = await subscribe(account);
  await (await clientOf(account)).endSession(ended.session);
  await left.client.deletePush();
  expect((await left.client.getPush()).subscribed).toBeNull();
  const stays = await subscribe(account);
  const { id } = await create(account);
  await untilStatus(account, id, 'completed');
  await untilReceived(received);
  expect(received.map(({ url }) => url)).toEqual([stays.browser.subscription.endpoint]);
});

it('a session sees its own subscription alone, and other accounts cannot send to it', async () => {
  const [account, other] = [newAccount(), newAccount()];
  const received = servePushes(() => ({ text: 'Done.' }));
  const { client, browser } = await subscribe(account, ALL);
  const [sibling, stranger] = [await subscribe(account), await subscribe(other)];
  const key = (await client.getPush()).publicKey;
  for (const each of [sibling, stranger]) {
    const { publicKey, subscribed } = await each.client.getPush();
    expect([publicKey, subscribed?.endpoint]).toEqual([key, each.browser.subscription.endpoint]);
  }
  const { id } = await create(other);
  await untilStatus(other, id, 'completed');
  await untilReceived(received);
  expect(received[0]?.url).toBe(stranger.browser.subscription.endpoint);
  await expect(browser.read(received[0] as Received)).rejects.toThrow();
});

it('two first requests at once get the one key of the server', async () => {
  const directory = () => env.DIRECTORY.get(env.DIRECTORY.newUniqueId());
  const fresh = directory();
  const keys = await Promise.all([fresh.pushKeys(), fresh.pushKeys(), fresh.pushKeys()]);
  expect(new Set(keys.map(({ privateKey }) => privateKey)).size).toBe(1);
  expect(base64url.decode(keys[0]?.publicKey ?? '')).toHaveLength(65);
});

it.each([
  'http://fcm.googleapis.com/fcm/send/x',
  'https://fcm.googleapis.com:8443/fcm/send/x',
  'https://fcm.googleapis.com@evil.example/x',
  'https://evil.example/fcm.googleapis.com',
  'https://evilpush.apple.com/x',
  'https://push.apple.com.evil.example/x',
  'https://127.0.0.1/x',
  'https://[::1]/x',
  'https://localhost/x',
  'file:///etc/passwd',
])('the endpoint %s is refused', async (endpoint) => {
  const { subscription } = await newBrowser(endpoint);
  const kept = await signIn(newAccount());
  await expect(clientWith(kept).setPush({ subscription, kinds: ALL })).rejects.toMatchObject({
    code: 'INVALID_REQUEST',
    message: expect.stringContaining('subscription.endpoint'),
  });
});

it.each([
  'https://web.push.apple.com/QGx',
  'https://updates.push.services.mozilla.com/wpush/v2/x',
  'https://wns2-par02p.notify.windows.com/w/?token=x',
])('the endpoint %s is taken', async (endpoint) => {
  const { client } = await subscribe(newAccount(), ALL, await newBrowser(endpoint));
  expect((await client.getPush()).subscribed).toEqual({
    service: 'web_push',
    endpoint,
    kinds: ALL,
  });
});

it('an origin that the operator names is taken, until it is not named any more', async () => {
  const account = newAccount();
  configure({ WEBHOOK_ORIGINS: 'https://push.internal:8443' });
  const received = servePushes(() => ({ text: 'Done.' }));
  const browser = await newBrowser('https://push.internal:8443/x');
  await subscribe(account, ALL, browser);
  const first = await create(account);
  await untilStatus(account, first.id, 'completed');
  await untilReceived(received);
  configure({ WEBHOOK_ORIGINS: '' });
  const lines: string[] = [];
  vi.spyOn(console, 'warn').mockImplementation((line: string) => void lines.push(line));
  const second = await create(account);
  await untilStatus(account, second.id, 'completed');
  await vi.waitFor(() => expect(lines.join()).toContain('push_failed'));
  expect(received).toHaveLength(1);
});

it('a token without a session has no notifications', async () => {
  const { subscription } = await newBrowser();
  const body = { subscription, kinds: ALL };
  const account = newAccount();
  const refused = await errorOf(await call('push', { method: 'PUT', account, body }));
  expect(refused).toMatchObject({ status: 403, code: 'FORBIDDEN' });
  expect((await call('push', { method: 'DELETE', account })).status).toBe(204);
  expect(await (await call('push', { account })).json()).toMatchObject({ subscribed: null });
  expect((await SELF.fetch(`${SERVER.url}/api/v1/push`)).status).toBe(401);
});

function verifierOf(publicKey: string) {
  const point = base64url.decode(publicKey);
  const [x = '', y = ''] = [point.slice(1, 33), point.slice(33)].map((half) =>
    base64url.encode(half),
  );
  return createLocalJWKSet({ keys: [{ kty: 'EC', crv: 'P-256', alg: 'ES256', x, y }] });
}
