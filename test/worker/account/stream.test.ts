import {
  abortAllDurableObjects,
  evictDurableObject,
  runInDurableObject,
  SELF,
} from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import { afterEach, describe, expect, it, vi } from 'vitest';
import type { ConversationInfo } from '../../../shared/api/conversations.ts';
import { ConversationList, Ticket } from '../../../shared/api/conversations.ts';
import { newConversationId } from '../../../shared/ids.ts';
import { CHANGE_LIMITS } from '../../../worker/account/limits.ts';
import { Account } from '../../../worker/account/object.ts';
import { Tunnel } from '../../../worker/tunnel/object.ts';
import { call, chat, scriptModel } from '../api.ts';
import { askStreamed } from '../conversation/conversing.ts';
import { holdModel, runCommand } from '../conversation/held-model.ts';
import { SseReader } from '../follow/sse-reader.ts';
import { connectBridge, openBridge } from '../tunnel/scripted-bridge.ts';
import {
  type AccountReader,
  conversationsIn,
  OPENERS,
  type Read,
  readerOf,
} from './account-reader.ts';

const readers: AccountReader[] = [];

afterEach(async () => {
  for (const reader of readers.splice(0)) await reader.leave();
  Object.assign(env, { FIRST_POSITION: undefined });
  vi.restoreAllMocks();
});

it('the stream of an account says which conversation runs, whatever is lost on the way', async () => {
  const { account, reader } = await followed('SSE');
  const model = holdModel();
  const { conversationId } = await askStreamed({ account });
  await newest(reader, conversationId, ({ running }) => running);
  const lost = vi.spyOn(Account.prototype, 'answered').mockImplementationOnce(() => {
    throw new Error('reset');
  });
  (await model.next()).answer({ text: 'Done.' });
  await newest(reader, conversationId, ({ running }) => !running);
  expect(lost).toHaveBeenCalledTimes(1);
  await askStreamed({ account, conversationId });
  await askStreamed({ account, conversationId });
  await newest(reader, conversationId, ({ running }) => running);
  const before = reader.events.length;
  for (const text of ['One.', 'Two.']) (await model.next()).answer({ text });
  await newest(reader, conversationId, ({ running }) => !running);
  const shown = conversationsIn(reader.events.slice(before), conversationId);
  // The second answer was waiting when the first one ended.
  expect(shown.map(({ running }) => running)).toEqual([true, false]);
});

describe.each(['SSE', 'WebSocket'] as const)('over %s, the stream of an account', (transport) => {
  it('shows an answer from its beginning to its end, the approval that it waits for, and a deletion', async () => {
    const { account, reader, bridge } = await followed(transport);
    const model = holdModel();
    const { conversationId } = await askStreamed({ account, bridgeId: bridge.bridgeId });
    (await model.next()).answer({ calls: [runCommand('make')] });
    const { callId } = await bridge.nextCall();
    bridge.ask(callId);
    await newest(reader, conversationId, ({ waiting }) => waiting.approvals === 1);
    await resetAccount(account); // As a deploy does.
    bridge.resolve(callId);
    bridge.succeed(callId, 'made');
    await newest(reader, conversationId, ({ waiting }) => waiting.approvals === 0);
    (await model.next()).answer({ text: 'Done.' });
    const begun = conversationsIn(reader.events, conversationId)[0];
    expect(begun).toMatchObject({ title: 'go', archived: false, bridgeId: bridge.bridgeId });
    await newest(reader, conversationId, ({ updated }) => updated !== begun?.updated);
    await change(account, conversationId, { title: 'Renamed', archived: true });
    await newest(reader, conversationId, ({ title, archived }) => archived && title === 'Renamed');
    await call(`conversations/${conversationId}`, { method: 'DELETE', account });
    await reader.until((events) =>
      events.some(
        ({ event }) =>
          event.type === 'conversation_deleted' && event.conversationId === conversationId,
      ),
    );
    const positions = reader.events.map(({ position }) => position);
    expect(positions).toEqual([...new Set(positions)].sort((a, b) => a - b));
  });

  it('shows a question of the agent until it is answered, and the status of an agent', async () => {
    const { account, reader } = await followed(transport);
    const model = holdModel();
    const options = ['One', 'Two'].map((label, index) => ({ id: `${index}`, label }));
    const questions = [{ id: 'way', prompt: 'Which?', options }];
    const answers = { afterSeconds: 60, otherwise: 'default' };
    const made = await call('agents', {
      body: { prompt: 'go', workspace: 'in_place', questions: answers },
      account,
    });
    const { id } = await made.json<{ id: string }>();
    (await model.next()).answer({ calls: [{ name: 'ask_question', arguments: { questions } }] });
    await newest(
      reader,
      id,
      ({ agent, waiting }) => agent === 'waiting' && waiting.questions === 1,
    );
    await call(`conversations/${id}/clarifications/doc_001`, { body: { answers: [] }, account });
    (await model.next()).answer({ text: 'Both.' });
    await newest(
      reader,
      id,
      ({ agent, waiting }) => agent === 'completed' && waiting.questions === 0,
    );
  });

  it('goes on behind the cursor of a reader that returns, with each change once and as it is now', async () => {
    const { account, reader } = await followed(transport);
    const [kept, gone] = await answered(account, 2);
    const last = await newest(reader, gone, () => true);
    await reader.leave();
    for (const title of ['A', 'B', 'C']) await change(account, kept, { title });
    await call(`conversations/${gone}`, { method: 'DELETE', account });
    await evictDurableObject(accountObject(account));
    const returned = await follow(transport, account, last.position);
    const events = await returned.until(({ length }) => length === 2);
    expect(events.map(({ event }) => event)).toMatchObject([
      { type: 'conversation', conversation: { id: kept, title: 'C' } },
      { type: 'conversation_deleted', conversationId: gone },
    ]);
  });
});

it('the stream of an account begins with a reset, after which the lists can be read without a loss', async () => {
  const account = newAccount();
  const [before] = await answered(account, 1);
  const reader = await follow('SSE', account);
  await reader.until(({ length }) => length === 1);
  expect(reader.events.map(({ event }) => event)).toEqual([{ type: 'reset' }]);
  expect(await listed(account)).toEqual([before]);
  const [later] = await answered(account, 1);
  await newest(reader, later, () => true);
});

it.each<[string, (account: string) => Promise<unknown>]>([
  ['is too old', (account) => changes(account, CHANGE_LIMITS.kept + 1)],
  ['is from a future that a restore took back', () => restoreAt(1_000_000)],
])('a reader whose cursor %s gets a reset', async (_, forget) => {
  const { account, reader } = await followed('SSE');
  const { position } = reader.events[0] as Read;
  await reader.leave();
  await forget(account);
  const returned = await follow('SSE', account, position);
  const [reset] = await returned.until(({ length }) => length > 0);
  expect(reset?.event).toEqual({ type: 'reset' });
  expect(reset?.position).toBeGreaterThan(position);
  const again = await follow('SSE', account, reset?.position);
  await changes(account, 1);
  const next = await again.until((all) => all.some(({ event }) => event.type === 'conversation'));
  expect(next.map(({ event }) => event.type)).not.toContain('reset');
});

it('a reader whose cursor was never sent gets a reset', async () => {
  const { account } = await followed('SSE');
  const reader = await follow('SSE', account, 999_999);
  expect((await reader.until(({ length }) => length > 0))[0]?.event).toEqual({ type: 'reset' });
});

it('a cursor counts while fewer changes than are kept came after it', async () => {
  const { account, reader } = await followed('SSE');
  const { position } = reader.events.at(-1) as Read;
  await reader.leave();
  const ids = await changes(account, CHANGE_LIMITS.kept - 1);
  const returned = await follow('SSE', account, position);
  const events = await returned.until(({ length }) => length >= ids.length);
  expect(events.map(({ event }) => Object(event).conversation.id)).toEqual(ids);
  expect(await countRows(account, 'changes')).toBe(CHANGE_LIMITS.kept);
});

it('a reader learns that a bridge connects and leaves', async () => {
  const { account, reader, bridge } = await followed('SSE');
  await bridge.leave();
  await reader.until(bridgeIs(false));
  const back = await openBridge({ account, bridgeId: bridge.bridgeId });
  await back.greet();
  await reader.until(bridgeIs(true));
  await back.leave();
  await reader.until(bridgeIs(false));
});

it('a bridge that takes over from another connection of it stays connected', async () => {
  const { account, reader, bridge } = await followed('SSE');
  const next = await openBridge({ account, bridgeId: bridge.bridgeId });
  await next.greet();
  await bridge.closed;
  await changes(account, 1);
  const events = await reader.until((all) =>
    all.some(({ event }) => event.type === 'conversation'),
  );
  const connected = events.flatMap(({ event }) =>
    event.type === 'bridge' ? [event.bridge.connected] : [],
  );
  expect(new Set(connected)).toEqual(new Set([true]));
});

it('a bridge that closes one connection while it greets on another one stays connected', async () => {
  const { account, bridge } = await followed('SSE');
  const greeted = Promise.withResolvers<null>();
  const told = vi.spyOn(Account.prototype, 'bridgeConnected');
  told.mockImplementation(() => greeted.promise as unknown as null);
  const closed = vi.spyOn(Account.prototype, 'bridgeClosed');
  const next = await openBridge({ account, bridgeId: bridge.bridgeId });
  next.hello();
  await vi.waitFor(() => expect(told).toHaveBeenCalled());
  await bridge.leave();
  greeted.resolve(null);
  await next.next('welcome');
  expect(closed).not.toHaveBeenCalled();
  await next.leave();
  await vi.waitFor(() => expect(closed).toHaveBeenCalledOnce());
});

it('a bridge that has just connected is not asked whether it lives', async () => {
  const { account, reader, bridge } = await followed('SSE');
  const asked = vi.spyOn(Tunnel.prototype, 'status');
  await (await follow('SSE', account)).until(({ length }) => length > 0);
  await setConnectedAt(account, 0);
  await (await follow('SSE', account)).until(({ length }) => length > 0);
  await vi.waitFor(() => expect(asked).toHaveBeenCalledOnce());
  await bridge.leave();
  await reader.until(bridgeIs(false));
});

it('a bridge whose end no one reported is found when a reader attaches', async () => {
  const { account, reader, bridge } = await followed('SSE');
  const { position } = reader.events.at(-1) as Read;
  const lost = vi.spyOn(Account.prototype, 'bridgeClosed').mockImplementation(() => undefined);
  await bridge.leave();
  await vi.waitFor(() => expect(lost).toHaveBeenCalled());
  await setConnectedAt(account, 0);
  const later = await follow('SSE', account, position);
  await later.until(bridgeIs(false));
});

it('an account that no one has followed numbers nothing', async () => {
  const account = newAccount();
  await answered(account, 1);
  expect(await countRows(account, 'changes')).toBe(0);
  await (await follow('SSE', account)).leave();
  await answered(account, 1);
  expect(await countRows(account, 'changes')).toBeGreaterThan(1);
});

it('a change costs one row more where someone follows', async () => {
  const { account } = await followed('SSE');
  const id = newConversationId(crypto.randomUUID());
  const { written } = await rowsOf(account, (instance) =>
    instance.answered({ ...entry(id), text: 'x', spent: null }),
  );
  expect(written).toBe(2);
});

it('the object sleeps under an idle follower, whose socket outlives that', async () => {
  const { account, reader } = await followed('SSE');
  await evictDurableObject(accountObject(account));
  const [id = ''] = await changes(account, 1);
  await newest(reader, id, () => true);
});

it('a follower comes back by itself when the object is reset under it', async () => {
  const { account, reader } = await followed('SSE');
  await abortAllDurableObjects();
  const [id = ''] = await changes(account, 1);
  await newest(reader, id, () => true);
  expect(reader.events.filter(({ event }) => event.type === 'reset')).toHaveLength(1);
});

it('an idle follower costs no row', async () => {
  const account = newAccount();
  await (await follow('WebSocket', account)).until(({ length }) => length === 1);
  const idle = await rowsOf(account, async () => {
    await new Promise((resolve) => setTimeout(resolve, 50));
  });
  expect(idle).toEqual({ read: 0, written: 0 });
});

it('nothing of another account is ever seen', async () => {
  const { account: other, reader: hers } = await followed('SSE');
  const { account, reader } = await followed('WebSocket');
  const [id = ''] = await answered(account, 1);
  await newest(reader, id, () => true);
  const [own = ''] = await changes(other, 1);
  await newest(hers, own, () => true);
  expect(JSON.stringify(hers.events)).not.toContain(id);
  expect(JSON.stringify(reader.events)).not.toContain(own);
});

it('a private conversation shows no word of its text', async () => {
  const { account, reader } = await followed('SSE');
  scriptModel(() => ({ text: 'hi' }));
  const { conversationId } = await chat('secret words', { account, deleteAfterHours: 1 });
  await newest(reader, conversationId, () => true);
  expect(JSON.stringify(reader.events)).not.toContain('secret');
});

it('a conversation that is not listed shows up nowhere', async () => {
  const { account, reader } = await followed('SSE');
  scriptModel(() => ({ text: 'hi' }));
  const { conversationId } = await chat('one', { account, ephemeral: true });
  await call(`conversations/${conversationId}`, { method: 'DELETE', account });
  const [id = ''] = await changes(account, 1);
  await newest(reader, id, () => true);
  expect(JSON.stringify(reader.events)).not.toContain(conversationId);
});

it('a ticket opens the stream of an account once, and no other stream', async () => {
  const account = newAccount();
  const [conversationId] = await answered(account, 1);
  const own = await ticketFor(account, { stream: 'account' });
  const other = await ticketFor(account, { conversationId });
  const status = async (path: string, ticket: string) => (await openWith(path, ticket)).status;
  expect(await status(`conversations/${conversationId}/events`, own)).toBe(401);
  expect(await status('events', other)).toBe(401);
  const reader = readerOf(new SseReader(await openWith('events', own)));
  readers.push(reader);
  await reader.until(({ length }) => length === 1);
  expect(await status('events', own)).toBe(401);
});

/** An account with a bridge, and a reader that has seen the first `reset`. */
async function followed(transport: keyof typeof OPENERS) {
  const account = newAccount();
  const bridge = await connectBridge({ account });
  const reader = await follow(transport, account);
  await reader.until(({ length }) => length === 1);
  return { account, bridge, reader };
}

async function follow(
  transport: keyof typeof OPENERS,
  account: string,
  after?: number,
): Promise<AccountReader> {
  const reader = await OPENERS[transport]({ account, after });
  readers.push(reader);
  return reader;
}

/** Waits until the last event of the conversation is like this. */
async function newest(
  reader: AccountReader,
  id: string | undefined,
  isIt: (conversation: ConversationInfo) => boolean,
): Promise<Read> {
  const find = (events: readonly Read[]) =>
    events.findLast(({ event }) => event.type === 'conversation' && event.conversation.id === id);
  const events = await reader.until((all) => {
    const event = find(all)?.event;
    return event?.type === 'conversation' && isIt(event.conversation);
  });
  return find(events) as Read;
}

function bridgeIs(connected: boolean) {
  return (events: readonly Read[]) => {
    const last = events.findLast(({ event }) => event.type === 'bridge')?.event;
    return last?.type === 'bridge' && last.bridge.connected === connected;
  };
}

/** New conversations with an answer. */
async function answered(account: string, count: number): Promise<string[]> {
  scriptModel(() => ({ text: 'hi' }));
  const ids: string[] = [];
  for (let index = 0; index < count; index++)
    ids.push((await chat('one', { account })).conversationId);
  return ids;
}

/** New conversations in the account's object alone. */
async function changes(account: string, count: number): Promise<string[]> {
  const ids = Array.from({ length: count }, () => newConversationId(crypto.randomUUID()));
  await runInDurableObject(accountObject(account), (instance) => {
    for (const id of ids) (instance as Account).begin(entry(id));
  });
  return ids;
}

function entry(id: string) {
  return {
    id,
    title: 't',
    archived: false,
    createdMs: 1,
    updatedMs: 1,
    isRunning: false,
    hasSubagents: false,
    bridgeId: null,
  };
}

async function change(account: string, id: string | undefined, patch: object): Promise<void> {
  const path = `conversations/${id}`;
  const { status } = await call(path, { method: 'PATCH', body: patch, account });
  expect(status).toBe(200);
}

async function listed(account: string): Promise<string[]> {
  const response = await call('conversations', { account });
  return ConversationList.parse(await response.json()).items.map(({ id }) => id);
}

/** Ends the object with its sockets, as a deploy does. */
async function resetAccount(account: string): Promise<void> {
  await runInDurableObject(accountObject(account), (_, state) => {
    for (const socket of state.getWebSockets()) socket.close(1012, 'restart');
  });
  await evictDurableObject(accountObject(account));
}

/** As local/state/restored.ts has it after a restore. */
async function restoreAt(firstPosition: number): Promise<void> {
  Object.assign(env, { FIRST_POSITION: `${firstPosition}` });
  await abortAllDurableObjects();
}

/** As if the account's bridges had connected then. */
async function setConnectedAt(account: string, ms: number): Promise<void> {
  await runInDurableObject(accountObject(account), (_, { storage }) => {
    storage.sql.exec('update bridges set connected_at = ?', ms);
  });
}

async function countRows(account: string, table: string): Promise<unknown> {
  return await runInDurableObject(
    accountObject(account),
    (_, { storage }) => storage.sql.exec(`select count(*) as count from ${table}`).one()['count'],
  );
}

/** The rows that the object reads and writes meanwhile. */
async function rowsOf(account: string, work: (instance: Account) => unknown) {
  return await runInDurableObject(accountObject(account), async (instance, { storage }) => {
    const prototype: SqlStorage = Object.getPrototypeOf(storage.sql);
    const { exec } = prototype;
    const rows = { read: 0, written: 0 };
    vi.spyOn(prototype, 'exec').mockImplementation(function (this: SqlStorage, ...parameters) {
      const cursor = Reflect.apply(exec, this, parameters);
      rows.read += cursor.rowsRead;
      rows.written += cursor.rowsWritten;
      return cursor;
    });
    await work(instance as Account);
    return rows;
  });
}

function accountObject(account: string) {
  return env.ACCOUNTS.get(env.ACCOUNTS.idFromName(account));
}

function newAccount(): string {
  return `ada-${crypto.randomUUID()}`;
}

async function ticketFor(account: string, body: object): Promise<string> {
  return Ticket.parse(await (await call('tickets', { body, account })).json()).ticket;
}

async function openWith(path: string, ticket: string): Promise<Response> {
  return await SELF.fetch(`https://drawbridge.test/api/v1/${path}?ticket=${ticket}`);
}
