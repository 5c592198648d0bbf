import { expect, it, vi } from 'vitest';
import type { NtfyTopic } from '../../../shared/api/push.ts';
import type { ScriptedReply } from '../../far-ends/reply-script.ts';
import { NTFY_TOKEN, scriptNtfy } from '../../far-ends/scripted-ntfy.ts';
import { create, untilStatus } from '../agents/agents.ts';
import { newAccount } from '../conversation/conversing.ts';
import { clientOf, clientWith, SERVER, signIn } from '../people/people.ts';
import { configure } from '../settings.ts';
import { ALL, QUESTION, slowly, untilReceived } from './news.ts';
import { newBrowser, type Received, servePushes } from './push-service.ts';

const TOPIC: NtfyTopic = { topic: 'https://ntfy.example.com/reserved-4Hq9', token: NTFY_TOKEN };
const DONE: ScriptedReply = { text: 'Done.' };

/** A session whose notifications go to a topic. */
async function subscribe(account: string, subscription = TOPIC, kinds = ALL) {
  const kept = await signIn(account);
  const client = clientWith(kept);
  await client.setPush({ subscription, kinds });
  return { client, session: kept.session };
}

/** An ntfy server in place of every address. */
function serveNtfy(reply: () => ScriptedReply) {
  const ntfy = scriptNtfy();
  const received = servePushes(reply, ({ method, url, headers, body }) => {
    const authorization = headers.get('authorization') ?? undefined;
    const text = new TextDecoder().decode(body);
    return Response.json({}, { status: ntfy.take({ method, url, authorization, body: text }) });
  });
  return { received, published: ntfy.published };
}

/** The lines of the log from now on. */
function logLines(): string[] {
  const lines: string[] = [];
  for (const level of ['info', 'warn', 'error'] as const) {
    vi.spyOn(console, level).mockImplementation((line: string) => void lines.push(line));
  }
  return lines;
}

/** Has an agent finish, which is worth a notification. */
async function finishOne(account: string): Promise<void> {
  const { id } = await create(account);
  await untilStatus(account, id, 'completed');
}

it('a question is published to the topic, urgently and with the token, without its text', async () => {
  const account = newAccount();
  const { received, published } = serveNtfy(() => QUESTION);
  const { client } = await subscribe(account);
  const { conversationId } = await client.sendMessage({
    messages: [{ role: 'user', content: 'some words' }],
  });
  await vi.waitFor(() => expect(published).toHaveLength(1));
  const { title } = await client.getConversation(conversationId);
  expect(published).toEqual([
    {
      topic: 'reserved-4Hq9',
      title,
      message: 'Waits for you',
      priority: 4,
      tags: ['bell'],
      click: `${SERVER.url}/#/c/${conversationId}`,
    },
  ]);
  const [{ url, redirect, headers }] = received as [Received];
  expect([url, redirect]).toEqual(['https://ntfy.example.com/', 'manual']);
  expect(Object.fromEntries(headers)).toMatchObject({
    authorization: `Bearer ${NTFY_TOKEN}`,
    'content-type': 'application/json',
  });
});

it('ends and failures are published with the usual priority, to an open topic without a token', async () => {
  const account = newAccount();
  let reply = DONE;
  const { received, published } = serveNtfy(() => reply);
  await subscribe(account, { topic: 'https://ntfy.sh/4Hq9_x' });
  await finishOne(account);
  await vi.waitFor(() => expect(published).toHaveLength(1));
  reply = { text: '' };
  const failing = await create(account);
  await untilStatus(account, failing.id, 'error');
  await vi.waitFor(() => expect(published).toHaveLength(2));
  expect(published).toMatchObject([
    { message: 'The answer is complete', priority: 3, tags: ['white_check_mark'] },
    { message: 'The answer failed', priority: 3, tags: ['warning'] },
  ]);
  expect(received.map(({ headers }) => headers.has('authorization'))).toEqual([false, false]);
});

it('a topic gets only the wanted kinds, and a private conversation has no title', async () => {
  const account = newAccount();
  const { received, published } = serveNtfy(slowly(QUESTION));
  await subscribe(account, { topic: 'https://ntfy.sh/unwanted' }, { ...ALL, waiting: false });
  const { client } = await subscribe(account);
  await client.sendMessage({
    messages: [{ role: 'user', content: 'my diagnosis' }],
    deleteAfterHours: 1,
  });
  await vi.waitFor(() => expect(published).toHaveLength(1));
  expect(published).toMatchObject([{ topic: 'reserved-4Hq9', title: 'Private conversation' }]);
  expect(new TextDecoder().decode(received[0]?.body)).not.toContain('diagnosis');
});

it('no answer has the token, and other kinds keep it', async () => {
  const account = newAccount();
  const { published } = serveNtfy(() => DONE);
  const { client } = await subscribe(account);
  const { topic } = TOPIC;
  const kinds = { ...ALL, failed: false };
  await client.setPush({ subscription: { topic }, kinds });
  expect((await client.getPush()).subscribed).toEqual({ service: 'ntfy', endpoint: topic, kinds });
  await finishOne(account);
  await vi.waitFor(() => expect(published).toHaveLength(1));
  const answers = [client.getPush(), client.listSessions(), client.listRecords(), client.getMe()];
  expect(JSON.stringify(await Promise.all(answers))).not.toContain(NTFY_TOKEN);
});

it.each([
  ['another topic', async () => undefined, 'https://ntfy.example.com/4Hq9'],
  ['another server', async () => undefined, 'https://ntfy.example.org/reserved-4Hq9'],
  ['a topic that was removed', clientDeletes, TOPIC.topic],
])('%s does not get the token', async (_, before, topic) => {
  const account = newAccount();
  const { received } = serveNtfy(() => DONE);
  const { client } = await subscribe(account);
  await before(client);
  await client.setPush({ subscription: { topic }, kinds: ALL });
  await finishOne(account);
  await untilReceived(received);
  expect(received[0]?.headers.get('authorization')).toBeNull();
});

async function clientDeletes(client: ReturnType<typeof clientWith>): Promise<void> {
  await client.deletePush();
}

it('a session has one subscription: a topic replaces a browser, and a browser a topic', async () => {
  const account = newAccount();
  const { received } = serveNtfy(() => DONE);
  const { client } = await subscribe(account);
  const { subscription } = await newBrowser();
  await client.setPush({ subscription, kinds: ALL });
  const { endpoint } = subscription;
  const browser = { service: 'web_push', endpoint, kinds: ALL };
  expect((await client.getPush()).subscribed).toEqual(browser);
  await client.setPush({ subscription: TOPIC, kinds: ALL });
  await finishOne(account);
  await untilReceived(received);
  expect(received.map(({ url }) => url)).toEqual(['https://ntfy.example.com/']);
});

it('a topic gets nothing after its session has ended', async () => {
  const account = newAccount();
  const { received } = serveNtfy(() => DONE);
  const { session } = await subscribe(account, { topic: 'https://ntfy.sh/ended' });
  await subscribe(account);
  await (await clientOf(account)).endSession(session);
  await finishOne(account);
  await untilReceived(received);
  expect(JSON.parse(new TextDecoder().decode(received[0]?.body))).toMatchObject({
    topic: 'reserved-4Hq9',
  });
});

it.each([302, 401, 403, 404, 410, 429, 503])(
  'an answer %i is in the log, without topic and token, and ends nothing',
  async (status) => {
    const account = newAccount();
    const lines = logLines();
    const headers = { location: 'https://ntfy.example.com/elsewhere' };
    const received = servePushes(
      () => DONE,
      () => new Response(null, { status, headers }),
    );
    const { client } = await subscribe(account);
    await finishOne(account);
    await vi.waitFor(() => expect(failureIn(lines)).toBeDefined());
    const failure = { operation: 'ended', service: 'ntfy', status };
    expect(failureIn(lines)).toMatchObject(failure);
    expect(lines.join()).not.toMatch(/tk_|4Hq9/);
    expect(received).toHaveLength(1);
    expect((await client.getPush()).subscribed?.endpoint).toBe(TOPIC.topic);
  },
);

it('a wrong token is refused, and the log says so', async () => {
  const account = newAccount();
  const lines = logLines();
  const { published } = serveNtfy(() => DONE);
  await subscribe(account, { ...TOPIC, token: `tk_${'x'.repeat(29)}` });
  await finishOne(account);
  await vi.waitFor(() => expect(failureIn(lines)).toMatchObject({ status: 401 }));
  expect(published).toEqual([]);
});

it('a server that cannot be reached is in the log, without topic and token', async () => {
  const account = newAccount();
  const lines = logLines();
  servePushes(
    () => DONE,
    () => {
      throw new TypeError(`Cannot reach ${TOPIC.topic} with Bearer "${NTFY_TOKEN}"`);
    },
  );
  await subscribe(account);
  await finishOne(account);
  await vi.waitFor(() => expect(failureIn(lines)).toMatchObject({ error: 'TypeError' }));
  expect(lines.join()).not.toMatch(/tk_|4Hq9/);
});

it.each([
  ['subscription.topic', { topic: 'https://ntfy.sh/' }],
  ['subscription.topic', { topic: 'https://ntfy.sh/a/b' }],
  ['subscription.topic', { topic: 'https://ntfy.sh/a/' }],
  ['subscription.topic', { topic: 'https://ntfy.sh/a.b' }],
  ['subscription.topic', { topic: 'https://ntfy.sh/%61' }],
  ['subscription.topic', { topic: `https://ntfy.sh/${'a'.repeat(65)}` }],
  ['subscription.topic', { topic: 'https://ntfy.sh/a?auth=x' }],
  ['subscription.topic', { topic: 'https://ntfy.sh/a#b' }],
  ['subscription.topic', { topic: 'https://me:pw@ntfy.sh/a' }],
  ['subscription.topic', { topic: 'https://ntfy.sh\\evil.example/a' }],
  ['subscription.topic', { topic: 'https://ntfy\n.sh/a' }],
  ['subscription.topic', { topic: 'ftp://ntfy.sh/a' }],
  ['subscription.topic', { topic: 'ntfy.sh/a' }],
  ['subscription.topic', { topic: 7 }],
  ['subscription.token', { topic: 'https://ntfy.sh/a', token: '' }],
  ['subscription.token', { topic: 'https://ntfy.sh/a', token: `${NTFY_TOKEN}\r\nx: y` }],
  ['subscription.token', { topic: 'https://ntfy.sh/a', token: 'Basic cGhpbDpteXBhc3M=' }],
  ['subscription.title', { topic: 'https://ntfy.sh/a', title: 'x' }],
])('bad input: %s of %j', async (field, subscription) => {
  const client = clientWith(await signIn(newAccount()));
  const setting = client.setPush({ subscription: subscription as NtfyTopic, kinds: ALL });
  await expect(setting).rejects.toMatchObject({
    code: 'INVALID_REQUEST',
    message: expect.stringMatching(new RegExp(`^${field}: `)),
  });
});

it.each([
  'http://ntfy.sh/a',
  'https://127.0.0.1/a',
  'https://0x7f.1/a',
  'https://[::1]/a',
  'https://192.168.0.2/a',
  'https://%6cocalhost/a',
  'https://ntfy/a',
  'https://ntfy.internal/a',
  'https://ntfy.sh:99999/a',
])('the topic %s is refused', async (topic) => {
  const client = clientWith(await signIn(newAccount()));
  await expect(client.setPush({ subscription: { topic }, kinds: ALL })).rejects.toMatchObject({
    code: 'WEBHOOK_NOT_ALLOWED',
    message: expect.stringMatching(/^subscription\.topic: .* WEBHOOK_ORIGINS$/),
  });
});

it('an origin that the operator names is taken, until it is not named any more', async () => {
  const account = newAccount();
  const lines = logLines();
  configure({ WEBHOOK_ORIGINS: 'http://192.168.0.2:2586' });
  const { received } = serveNtfy(() => DONE);
  await subscribe(account, { topic: 'http://192.168.0.2:2586/home' });
  await finishOne(account);
  await untilReceived(received);
  configure({ WEBHOOK_ORIGINS: '' });
  await finishOne(account);
  await vi.waitFor(() => expect(failureIn(lines)).toMatchObject({ code: 'WEBHOOK_NOT_ALLOWED' }));
  expect(received.map(({ url }) => url)).toEqual(['http://192.168.0.2:2586/']);
});

function failureIn(lines: readonly string[]): object | undefined {
  return lines.map((line) => JSON.parse(line)).find(({ event }) => event === 'push_failed');
}
