import { abortAllDurableObjects, runDurableObjectAlarm, runInDurableObject } from 'cloudflare:test';
import { Webhook } from 'standardwebhooks';
import { expect, it, vi } from 'vitest';
import { WebhookDeliveries, type WebhookDelivery } from '../../../shared/api/agents.ts';
import { RUN_LIMITS } from '../../../shared/limits.ts';
import { DELIVERY_LIMITS } from '../../../worker/deliveries/limits.ts';
import { framesOf, streamOf } from '../../far-ends/reply-script.ts';
import { create, newAccount, post, untilStatus } from '../agents/agents.ts';
import { call, errorOf } from '../api.ts';
import { conversationObject } from '../conversation/conversing.ts';
import { shiftClock } from '../conversation/shifted-clock.ts';
import { HOOK, receive } from './receiver.ts';

it('each change of the status is delivered, signed as the specification says', async () => {
  const received = receive(() => new Response(null, { status: 204 }));
  const account = newAccount();
  const { id, responseId, webhook } = await create(account, { webhook: { url: HOOK } });
  expect(webhook).toMatchObject({ url: HOOK, state: 'active' });
  await untilStatus(account, id, 'completed');
  await vi.waitFor(() => expect(received).toHaveLength(2));
  const data = { id, title: 'Fix it', responseId };
  expect(received.map(({ event }) => event)).toMatchObject([
    { type: 'agent.running', data: { ...data, status: 'running' } },
    { type: 'agent.completed', data: { ...data, status: 'completed' } },
  ]);
  const verifier = new Webhook(webhook?.secret ?? '');
  for (const { body, headers, redirect } of received) {
    verifier.verify(body, Object.fromEntries(headers));
    expect(redirect).toBe('manual');
  }
  const items = await deliveriesOf(account, id);
  expect(items.map(({ state, attempts, answer }) => [state, attempts, answer])).toEqual([
    ['delivered', 1, '204'],
    ['delivered', 1, '204'],
  ]);
  expect(items.map((item) => item.id)).toEqual(
    received.map(({ headers }) => headers.get('webhook-id')).reverse(),
  );
});

it('a delivery that waits for hours leaves a dead run to the alarm of the next minute', async () => {
  const later = { status: 429, headers: { 'retry-after': '7200' } };
  receive(() => new Response(null, later), Promise.withResolvers<Response>().promise);
  const account = newAccount();
  const { id } = await create(account, { webhook: { url: HOOK } });
  await vi.waitFor(async () =>
    expect(await deliveriesOf(account, id)).toMatchObject([{ attempts: 1, state: 'pending' }]),
  );
  const clock = shiftClock(RUN_LIMITS.watchdogMs + 1);
  await runDurableObjectAlarm(conversationObject(id)); // The run is asking, and the webhook waits.
  await abortAllDurableObjects();
  const alarm = await runInDurableObject(conversationObject(id), (_, { storage }) =>
    storage.getAlarm(),
  );
  expect(alarm).toBeLessThanOrEqual(Date.now() + RUN_LIMITS.watchdogMs);
  vi.mocked(globalThis.fetch).mockRestore();
  receive(() => new Response());
  clock.aheadMs += RUN_LIMITS.watchdogMs;
  await runDurableObjectAlarm(conversationObject(id));
  await untilStatus(account, id, 'completed');
});

it('the end of the work is delivered once, however the agent is put away and brought back', async () => {
  const { promise, resolve } = Promise.withResolvers<Response>();
  const received = receive(() => new Response(), promise);
  const account = newAccount();
  const { id } = await create(account, { webhook: { url: HOOK } });
  const patch = { method: 'PATCH', account, body: { archived: true } };
  await call(`conversations/${id}`, patch);
  resolve(streamOf(framesOf({ text: 'Done.' })));
  await untilStatus(account, id, 'archived');
  await vi.waitFor(() => expect(received.at(-1)?.event.type).toBe('agent.completed'));
  await post(account, `/${id}/unarchive`);
  await untilStatus(account, id, 'completed');
  await post(account, `/${id}/archive`);
  await untilStatus(account, id, 'archived');
  await vi.waitFor(async () => {
    const items = await deliveriesOf(account, id);
    expect(items.map(({ state }) => state)).toEqual(['delivered', 'delivered']);
  });
  expect(received.map(({ event }) => event)).toMatchObject([
    { type: 'agent.running', data: { status: 'running' } },
    { type: 'agent.completed', data: { status: 'completed' } },
  ]);
});

it('the secret is shown to the request that makes the agent and to its repetition, and to no other', async () => {
  receive(() => new Response());
  const account = newAccount();
  const secret = `whsec_${btoa('x'.repeat(24))}`;
  const body = { prompt: 'Fix it', webhook: { url: HOOK, secret } };
  const key = { 'idempotency-key': 'once' };
  const { id } = Object(await (await post(account, '', body, key)).json());
  const again = Object(await (await post(account, '', body, key)).json());
  expect(again).toMatchObject({ id, webhook: { secret } });
  const agent = await untilStatus(account, id, 'completed');
  expect(agent.webhook).toEqual({ url: HOOK, state: 'active' });
});

it.each<[string, () => Response | Promise<Response>, string]>([
  ['an error', () => new Response('no', { status: 500 }), '500'],
  ['a redirect', () => Response.redirect('http://127.0.0.1/', 302), '302'],
  ['no connection', () => Promise.reject(new Error('secret insides')), 'It could not be reached.'],
])('%s is followed by another attempt with the same id and a new time', async (_, fail, answer) => {
  const received = receive((attempt) => (attempt === 0 ? fail() : new Response()));
  const account = newAccount();
  const { id } = await stopped(account);
  await vi.waitFor(async () =>
    expect(await deliveriesOf(account, id)).toMatchObject([{ state: 'delivered' }, { answer }]),
  );
  const [, failed] = await deliveriesOf(account, id);
  expect(failed).toMatchObject({ state: 'pending', attempts: 1 });
  shiftClock(2 * (DELIVERY_LIMITS.waitsMs[1] ?? 0));
  await runDurableObjectAlarm(conversationObject(id));
  await vi.waitFor(async () =>
    expect(await deliveriesOf(account, id)).toMatchObject([
      { state: 'delivered' },
      { state: 'delivered', attempts: 2 },
    ]),
  );
  const same = received.filter(({ headers }) => headers.get('webhook-id') === failed?.id);
  expect(same).toHaveLength(2);
  expect(same[0]?.body).toBe(same[1]?.body);
  const [first = 0, second = 0] = same.map(({ headers }) =>
    Number(headers.get('webhook-timestamp')),
  );
  expect(second).toBeGreaterThan(first);
});

it('a receiver that asks for time gets it', async () => {
  const slow = { status: 429, headers: { 'retry-after': '7200' } };
  receive(() => new Response(null, slow));
  const account = newAccount();
  const { id } = await stopped(account);
  await vi.waitFor(async () =>
    expect(await deliveriesOf(account, id)).toMatchObject([{ attempts: 1 }, { attempts: 1 }]),
  );
  for (const { next = '' } of await deliveriesOf(account, id)) {
    expect(Date.parse(next) - Date.now()).toBeGreaterThan(7_000_000);
  }
});

it('a receiver that never answers holds up neither the work nor other events', async () => {
  const received = receive((attempt) =>
    attempt === 0 ? new Promise<Response>(() => undefined) : new Response(),
  );
  const account = newAccount();
  const { id } = await create(account, { webhook: { url: HOOK } });
  await untilStatus(account, id, 'completed');
  await vi.waitFor(async () =>
    expect(await deliveriesOf(account, id)).toMatchObject([
      { type: 'agent.completed', state: 'delivered' },
      { type: 'agent.running', state: 'pending', attempts: 0 },
    ]),
  );
  expect(received).toHaveLength(2);
  await post(account, `/${id}/followup`, { prompt: 'And now?' });
  await vi.waitFor(() => expect(received).toHaveLength(4));
  expect(await untilStatus(account, id, 'completed')).toMatchObject({ result: 'Done.' });
});

it('410 ends it: nothing waits, and nothing more is sent', async () => {
  const received = receive((attempt) => new Response(null, { status: attempt === 0 ? 500 : 410 }));
  const account = newAccount();
  const { id } = await create(account, { webhook: { url: HOOK } });
  const gone = { url: HOOK, state: 'gone' };
  await vi.waitFor(async () => {
    const agent = await untilStatus(account, id, 'completed');
    expect(agent.webhook).toEqual(gone);
  });
  const states = (await deliveriesOf(account, id)).map(({ state }) => state);
  expect(states).toEqual(['dead', 'dead']);
  await abortAllDurableObjects();
  await post(account, `/${id}/followup`, { prompt: 'More' });
  await untilStatus(account, id, 'completed');
  expect(received).toHaveLength(2);
});

it('an event is given up after its last attempt', async () => {
  const received = receive(() => new Response(null, { status: 503 }));
  const account = newAccount();
  const { id } = await stopped(account);
  const clock = shiftClock();
  const attempts = DELIVERY_LIMITS.waitsMs.length;
  for (let made = 1; made < attempts; made++) {
    await vi.waitFor(() => expect(received).toHaveLength(2 * made));
    clock.aheadMs += 2 * (DELIVERY_LIMITS.waitsMs[made] ?? 0);
    await vi.waitFor(async () => {
      await runDurableObjectAlarm(conversationObject(id));
      expect(received).toHaveLength(2 * made + 2);
    });
  }
  await vi.waitFor(async () =>
    expect(await deliveriesOf(account, id)).toMatchObject([
      { state: 'dead', attempts, answer: '503' },
      { state: 'dead', attempts, answer: '503' },
    ]),
  );
});

it('an event whose attempt died with its object is sent again', async () => {
  const received = receive((attempt) =>
    attempt < 2 ? new Promise<Response>(() => undefined) : new Response(),
  );
  const account = newAccount();
  const { id } = await stopped(account);
  await vi.waitFor(() => expect(received).toHaveLength(2));
  await abortAllDurableObjects();
  await runDurableObjectAlarm(conversationObject(id));
  await vi.waitFor(async () =>
    expect(await deliveriesOf(account, id)).toMatchObject([
      { state: 'delivered' },
      { state: 'delivered' },
    ]),
  );
  const ids = received.map(({ headers }) => headers.get('webhook-id'));
  expect(ids.slice(2).sort()).toEqual(ids.slice(0, 2).sort());
});

it('an agent with events under way can be deleted', async () => {
  const held = Promise.withResolvers<Response>();
  const received = receive(() => held.promise);
  const account = newAccount();
  const { id } = await stopped(account);
  await vi.waitFor(() => expect(received).toHaveLength(2));
  const deleted = await call(`agents/${id}`, { method: 'DELETE', account });
  expect(deleted.status).toBe(204);
  held.resolve(new Response(null, { status: 500 }));
  expect((await call(`agents/${id}/deliveries`, { account })).status).toBe(404);
});

it.each([
  ['WEBHOOK_NOT_ALLOWED', { url: 'https://192.168.0.1/hook' }],
  ['WEBHOOK_NOT_ALLOWED', { url: 'https://[::ffff:10.0.0.1]/hook' }],
  ['WEBHOOK_NOT_ALLOWED', { url: 'https://metadata.google.internal/' }],
  ['WEBHOOK_NOT_ALLOWED', { url: 'http://hooks.test/' }],
  ['INVALID_REQUEST', { url: 'nowhere' }],
  ['INVALID_REQUEST', { url: HOOK, secret: 'whsec_short' }],
  ['INVALID_REQUEST', { url: HOOK, events: [] }],
])('%s: %j makes no agent, and the next request does', async (code, webhook) => {
  const account = newAccount();
  const refused = await errorOf(await post(account, '', { prompt: 'Fix it', webhook }));
  expect(refused).toMatchObject({ status: 400, code });
  expect(await (await call('agents', { account })).json()).toMatchObject({ items: [] });
  receive(() => new Response());
  const { id } = await create(account);
  expect(await untilStatus(account, id, 'completed')).toMatchObject({ result: 'Done.' });
});

/** An agent with two events: its start and its end. */
async function stopped(account: string) {
  const agent = await create(account, { webhook: { url: HOOK } });
  return await untilStatus(account, agent.id, 'completed');
}

async function deliveriesOf(account: string, id: string): Promise<WebhookDelivery[]> {
  const response = await call(`agents/${id}/deliveries`, { account });
  return WebhookDeliveries.parse(await response.json()).items;
}
