import {
  env,
  evictDurableObject,
  runDurableObjectAlarm,
  runInDurableObject,
} from 'cloudflare:test';
import { expect, it, vi } from 'vitest';
import { ConversationExport } from '../../../shared/api/conversations.ts';
import { newConversationId, responseIdOf } from '../../../shared/ids.ts';
import { CONVERSATION_LIMITS, REQUEST_LIMITS } from '../../../shared/limits.ts';
import type { ChatResponse } from '../../../shared/wire/documents.ts';
import type { TapeEvent } from '../../../shared/wire/events.ts';
import { foldConversation } from '../../../shared/wire/fold.ts';
import { copyTapeRow } from '../../../worker/conversation/fork/copy-events.ts';
import { forkConversation } from '../../../worker/conversation/fork/fork.ts';
import { TABLES } from '../../../worker/conversation/fork/pages.ts';
import { Conversation } from '../../../worker/conversation/object.ts';
import { MIGRATIONS } from '../../../worker/conversation/store/schema.ts';
import { migrate } from '../../../worker/storage/migrations.ts';
import { Tunnel } from '../../../worker/tunnel/object.ts';
import { fewOf } from '../../depth.ts';
import { ask, call, chat, errorOf, scriptModel } from '../api.ts';
import { SseReader } from '../follow/sse-reader.ts';
import { connectBridge, type ScriptedBridge } from '../tunnel/scripted-bridge.ts';
import {
  askHeld,
  askStreamed,
  cancel,
  conversationObject,
  newAccount,
  readView,
  startAnswer,
  tablesOf,
} from './conversing.ts';
import { type HeldModel, holdModel, runCommand } from './held-model.ts';

/** A fork gets a row of its own and a version of its own, and is no agent with webhooks. */
const NOT_COPIED = ['conversation', 'deliveries', 'schema_version'];

it('copies every table but those that a fork must not share', async () => {
  const stub = conversationObject(newConversationId(crypto.randomUUID()));
  const tables = await runInDurableObject(stub, (_, { storage: { sql } }) => {
    migrate(sql, MIGRATIONS);
    const named = sql.exec<{ name: string }>("select name from sqlite_master where type = 'table'");
    return named.toArray().map(({ name }) => name);
  });
  const known = [...TABLES.map(({ name }) => name), ...NOT_COPIED];
  expect(tables.filter((name) => !name.startsWith('_cf_')).sort()).toEqual(known.sort());
});

it('a fork has everything through the response, under ids of its own, and nothing after it', async () => {
  const account = newAccount();
  scriptModel((_, number) => ({ text: `Reply ${number}.` }));
  const { id, conversationId } = await chat('first', { account });
  await chat('second', { account, conversationId });
  const original = await readView(conversationId, { account });
  const forked = await forkAt(conversationId, id, account);
  const copy = await readView(forked, { account });
  const responseId = responseIdOf(forked, 1);
  const { created, position } = copy;
  expect(created >= original.created).toBe(true);
  expect(copy).toEqual({
    ...original,
    id: forked,
    created,
    position,
    messages: [{ ...original.messages[0], responseId }],
    responses: [{ ...original.responses[0], id: responseId, conversationId: forked }],
  });
  const folded = { ...copy, messages: [], responses: [] };
  const events = new SseReader(await call(`conversations/${forked}/events`, { account }));
  for (const { event } of await events.untilType('done')) foldConversation(folded, event);
  await events.leave();
  expect(folded).toEqual(copy);
  expect(await (await call(`chat/completions/${responseId}`, { account })).json()).toEqual(
    copy.responses[0],
  );
  expect(await readView(conversationId, { account })).toEqual(original);
});

it('a fork is listed with the title and found by the words of the old one', async () => {
  const account = newAccount();
  scriptModel(() => ({ text: 'The okapi.' }));
  const { id, conversationId } = await chat('first', { account });
  await call(`conversations/${conversationId}`, {
    method: 'PATCH',
    body: { title: 'Renamed', archived: true },
    account,
  });
  const forked = await forkAt(conversationId, id, account);
  const { items } = await (await call('conversations?search=okapi', { account })).json<{
    items: unknown[];
  }>();
  expect(items).toMatchObject([{ id: forked, title: 'Renamed', archived: false }]);
  expect(await readView(forked, { account })).toMatchObject({
    title: 'Renamed',
    archived: false,
  });
});

it('a fork goes on by itself, as the old one does: the model sees each its own past', async () => {
  const account = newAccount();
  const model = holdModel();
  const bridge = await connectBridge({ account });
  const first = await askStreamed({ account, bridgeId: bridge.bridgeId });
  await useTool(model, bridge, 'make', 'made');
  (await model.next()).answer({ text: 'Made.' });
  await first.reader.toEnd();
  const forked = await forkAt(first.conversationId, first.responseId, account);
  for (const conversationId of [first.conversationId, forked]) {
    const next = await ask(`on in ${conversationId}`, { account, conversationId, stream: true });
    await useTool(model, bridge, `test ${conversationId}`, 'passed');
    const { request, answer } = await model.next().then((reply) => ({
      request: reply.request,
      answer: reply.answer.bind(reply),
    }));
    const texts = JSON.stringify(request.messages);
    expect(texts).toContain('made');
    expect(texts).toContain(`on in ${conversationId}`);
    expect(texts.match(/on in conv_/g)).toHaveLength(1);
    answer({ text: 'Tested.' });
    await new SseReader(next).toEnd();
    const { responses } = await readView(conversationId, { account });
    expect(responses.map(({ id }) => id)).toEqual([
      responseIdOf(conversationId, 1),
      responseIdOf(conversationId, 2),
    ]);
    expect(responses.every(({ status }) => status === 'completed')).toBe(true);
  }
});

it('a fork goes on after its object has slept', async () => {
  const account = newAccount();
  scriptModel((_, number) => ({ text: `Reply ${number}.` }));
  const { id, conversationId } = await chat('first', { account });
  const forked = await forkAt(conversationId, id, account);
  await evictDurableObject(conversationObject(forked));
  await chat('second', { account, conversationId: forked });
  expect(
    (await readView(forked, { account })).responses.map(({ documents }) => documents[0]?.content),
  ).toEqual(['Reply 0.', 'Reply 1.']);
});

it('a fork begins without the Idempotency-Keys of the old one', async () => {
  const account = newAccount();
  scriptModel((_, number) => ({ text: `Reply ${number}.` }));
  const { conversationId } = await chat('first', { account });
  const headers = { 'idempotency-key': 'second' };
  const send = async (to: string): Promise<ChatResponse> => {
    const body = { messages: [{ role: 'user', content: 'second' }], conversationId: to };
    return await (await call('chat/completions', { account, body, headers })).json();
  };
  const { id } = await send(conversationId);
  const forked = await forkAt(conversationId, id, account);
  expect(await send(forked)).toMatchObject({ id: responseIdOf(forked, 3) });
  expect(await send(forked)).toMatchObject({ id: responseIdOf(forked, 3) });
});

it('a fork begins without those of messages that steered the old one', async () => {
  const account = newAccount();
  const { model, conversationId, responseId, reader } = await askHeld({ account });
  const headers = { 'idempotency-key': 'steer' };
  const send = (to: string): Promise<Response> => {
    const messages = [{ role: 'user', content: 'shorter' }];
    const body = { messages, delivery: 'steer', conversationId: to, stream: true };
    return call('chat/completions', { account, body, headers });
  };
  const reply = await model.next();
  const steered = new SseReader(await send(conversationId));
  reply.answer({ text: 'Long.' });
  (await model.next()).answer({ text: 'Short.' });
  await reader.toEnd();
  await steered.toEnd();
  const forked = await forkAt(conversationId, responseId, account);
  const sent = await send(forked);
  expect(sent.headers.get('drawbridge-response-id')).toBe(responseIdOf(forked, 2));
  (await model.next()).answer({ text: 'Shorter.' });
  await new SseReader(sent).toEnd();
});

it('a fork can be forked again, and outlives the old one', async () => {
  const account = newAccount();
  scriptModel(() => ({ text: 'hi' }));
  const { id, conversationId } = await chat('first', { account });
  const forked = await forkAt(conversationId, id, account);
  await call(`conversations/${conversationId}`, { method: 'DELETE', account });
  const again = await forkAt(forked, responseIdOf(forked, 1), account);
  expect((await readView(again, { account })).messages).toMatchObject([{ content: 'first' }]);
});

it('a fork takes a conversation of many pages', async () => {
  const account = newAccount();
  scriptModel(() => ({ text: 'hi' }));
  const size = REQUEST_LIMITS.maxMessageChars;
  const { conversationId } = await chat('0'.repeat(size), { account });
  let last = '';
  // Each is stored twice: on the tape, and with its run.
  expect(2 * size).toBeGreaterThan(CONVERSATION_LIMITS.maxPageChars);
  const turns = fewOf(7, 3);
  for (let number = 1; number < turns; number++) {
    last = (await chat(String(number).repeat(size), { account, conversationId })).id;
  }
  const pages = vi.spyOn(Conversation.prototype, 'forkPage');
  const forked = await forkAt(conversationId, last, account);
  expect(pages.mock.calls.length).toBeGreaterThan(1);
  const [original, copy] = [await whole(conversationId, account), await whole(forked, account)];
  const said = ({ messages }: typeof copy) => messages.map(({ content }) => content);
  expect(said(copy)).toHaveLength(turns);
  expect(said(copy).every((content, index) => content === said(original)[index])).toBe(true);
  await chat('on', { account, conversationId: forked });
});

it('while the conversation is running, a fork through the current response is refused, through the one before it goes well', async () => {
  const account = newAccount();
  const model = holdModel();
  const first = await askStreamed({ account });
  const reply = await model.next();
  const { conversationId } = first;
  const waiting = await ask('second', { account, conversationId, stream: true });
  expect(await errorOf(await fork(conversationId, first.responseId, account))).toMatchObject({
    status: 409,
    code: 'CONVERSATION_BUSY',
  });
  reply.answer({ text: 'One.' });
  await first.reader.toEnd();
  const second = await model.next();
  const forked = await forkAt(conversationId, first.responseId, account);
  expect(await readView(forked, { account })).toMatchObject({
    messages: [{ content: 'go' }],
    responses: [{ documents: [{ content: 'One.' }] }],
  });
  const refused = await fork(conversationId, responseIdOf(conversationId, 2), account);
  expect(refused.status).toBe(409);
  second.answer({ text: 'Two.' });
  await new SseReader(waiting).toEnd();
});

it('while the conversation is running, a fork before a response takes what is earlier: of a first one, nothing', async () => {
  const account = newAccount();
  const { model, reader, conversationId, reply } = await startAnswer({ account });
  const to = { account, conversationId: newConversationId(crypto.randomUUID()) };
  const source = { from: conversationId, ordinal: 1, through: false, title: 'Edited' };
  await forkConversation(env, to, source);
  expect(await readView(to.conversationId, { account })).toMatchObject({
    title: 'Edited',
    messages: [],
    responses: [],
  });
  reply.answer({ text: 'x' });
  await reader.toEnd();
  const edited = chat('edited', { account, conversationId: to.conversationId });
  (await model.next()).answer({ text: 'y' });
  expect(await edited).toMatchObject({
    id: responseIdOf(to.conversationId, 1),
    status: 'completed',
  });
});

it('while the conversation is running, a message that waited before the end of the copied response stays behind', async () => {
  const account = newAccount();
  const model = holdModel();
  const first = await askStreamed({ account });
  const reply = await model.next();
  const { conversationId } = first;
  const second = await askStreamed({ account, conversationId });
  await cancel(second.responseId, account);
  reply.answer({ text: 'One.' });
  await first.reader.toEnd();
  const forked = await forkAt(conversationId, first.responseId, account);
  const copy = await readView(forked, { account });
  expect([copy.messages.length, copy.responses.length]).toEqual([1, 1]);
  const third = chat('third', { account, conversationId: forked });
  (await model.next()).answer({ text: 'Three.' });
  expect((await third).id).toBe(responseIdOf(forked, 2));
});

it('what cannot be forked is not found, and nothing is made', async () => {
  const account = newAccount();
  scriptModel(() => ({ text: 'hi' }));
  const { id, conversationId } = await chat('first', { account });
  const other = await chat('other', { account });
  for (const [from, responseId, by] of [
    [conversationId, id, newAccount()],
    [conversationId, responseIdOf(conversationId, 2), account],
    [conversationId, other.id, account],
    ['conv_11111111-1111-4111-8111-111111110000', id, account],
  ] as const) {
    expect(await errorOf(await fork(from, responseId, by))).toMatchObject({
      status: 404,
      code: 'NOT_FOUND',
    });
  }
  const to = { account, conversationId: newConversationId(crypto.randomUUID()) };
  const source = { from: conversationId, ordinal: 7, through: true };
  await expect(forkConversation(env, to, source)).rejects.toMatchObject({ code: 'NOT_FOUND' });
  expect(await tablesOf(to.conversationId)).toEqual([]);
  expect(await listedOf(account)).toBe(2);
});

it('a copy that is given up in the middle is not there, and can be made again', async () => {
  const { account, to, source } = await toBeForked();
  const broken = breakAfterFirstPage();
  await expect(forkConversation(env, to, source)).rejects.toThrow();
  expect((await call(`conversations/${to.conversationId}`, { account })).status).toBe(404);
  expect(await tablesOf(to.conversationId)).toEqual([]);
  broken.mockRestore();
  await forkConversation(env, to, source);
  await forkConversation(env, to, source);
  expect((await readView(to.conversationId, { account })).responses).toHaveLength(1);
  expect(await listedOf(account)).toBe(2);
});

it('a copy that is given up in the middle is swept away when the object died with it', async () => {
  const { account, to } = await halfCopied();
  expect((await call(`conversations/${to.conversationId}`, { account })).status).toBe(404);
  expect(await runDurableObjectAlarm(conversationObject(to.conversationId))).toBe(true);
  expect(await tablesOf(to.conversationId)).toEqual([]);
});

it('a copy that is given up in the middle is begun anew after the object died with it', async () => {
  const { account, to, source } = await halfCopied();
  await forkConversation(env, to, source);
  expect((await readView(to.conversationId, { account })).responses).toHaveLength(1);
});

it('a copy that is given up in the middle leaves nothing in a new conversation that gets its id', async () => {
  const { account, to } = await halfCopied();
  const messages = [{ role: 'user', content: 'go' }] as const;
  const request = { type: 'message', model: 'x', mode: 'agent', messages, createdMs: 0 } as const;
  const create = { bridgeId: null, title: 'go', ephemeral: false };
  const posted = { request, device: undefined, delivery: 'queue', ownFields: [] } as const;
  const submission = { ...posted, create };
  const submitted = await conversationObject(to.conversationId).submit(to, submission);
  expect(submitted).toMatchObject({ ok: true });
  await vi.waitFor(async () => {
    const { messages, responses } = await readView(to.conversationId, { account });
    expect(messages).toMatchObject([{ content: 'go' }]);
    expect(responses).toMatchObject([{ status: 'completed' }]);
  });
});

it('a copy that is given up in the middle is made once by two requests that come together', async () => {
  const { account, to, source } = await toBeForked();
  const { forkPage } = Conversation.prototype;
  const pages = vi.spyOn(Conversation.prototype, 'forkPage').mockImplementation(async function (
    this: Conversation,
    ...parameters
  ) {
    await new Promise((resolve) => setTimeout(resolve, 50));
    return await forkPage.apply(this, parameters);
  });
  await Promise.all([forkConversation(env, to, source), forkConversation(env, to, source)]);
  expect(pages).toHaveBeenCalledOnce();
  expect((await readView(to.conversationId, { account })).responses).toHaveLength(1);
});

it.each(['before', 'after'] as const)(
  'a new conversation of the same id that is ready %s the copy is does not get into it',
  async (order) => {
    const { account, to, source } = await toBeForked();
    const { bridgeId } = await connectBridge({ account });
    const { look } = Tunnel.prototype;
    const { forkPage } = Conversation.prototype;
    const may = { look: false, copy: order === 'after' };
    const looked = vi.spyOn(Tunnel.prototype, 'look');
    looked.mockImplementation(heldUntil(() => may.look, look) as never);
    const pages = vi.spyOn(Conversation.prototype, 'forkPage');
    pages.mockImplementation(heldUntil(() => may.copy, forkPage));
    const fields = { model: 'x', mode: 'agent', messages: [], createdMs: 0 } as const;
    const request = { type: 'message', ...fields } as const;
    const create = { bridgeId, title: 'go', ephemeral: false };
    const posted = { request, device: undefined, delivery: 'queue', ownFields: [] } as const;
    const submitted = conversationObject(to.conversationId).submit(to, { ...posted, create });
    await vi.waitFor(() => expect(looked).toHaveBeenCalled());
    const forked = forkConversation(env, to, source);
    await vi.waitFor(() => expect(pages).toHaveBeenCalled());
    if (order === 'after') await forked;
    may.look = true;
    expect(await submitted).toMatchObject({ ok: false, code: 'IDEMPOTENCY_CONFLICT' });
    may.copy = true;
    await forked;
    expect((await readView(to.conversationId, { account })).messages).toMatchObject([
      { content: 'first' },
    ]);
  },
);

/** The method, which begins once it may. It asks again and again: no object may await another one's promise. */
function heldUntil<This, Arguments extends unknown[], Result>(
  mayBegin: () => boolean,
  method: (this: This, ...parameters: Arguments) => Result,
) {
  return async function (this: This, ...parameters: Arguments): Promise<Awaited<Result>> {
    while (!mayBegin()) await new Promise((resolve) => setTimeout(resolve, 5));
    return await method.apply(this, parameters);
  };
}

it.each<[string, (responseId: string) => TapeEvent]>([
  ['message_update', (responseId) => ({ type: 'message_update', responseId, content: 'x' })],
  ['steered', (responseId) => ({ type: 'steered', responseId })],
  ['context_summary', (responseId) => ({ type: 'context_summary', responseId, status: 'running' })],
])('a %s names the response of the copy, and stays behind with one that does', (_, event) => {
  const from = 'conv_22222222-2222-4222-8222-222222220000';
  const conversationId = 'conv_33333333-3333-4333-8333-333333330000';
  const row = { position: 0, events: [1, 2].map((ordinal) => event(responseIdOf(from, ordinal))) };
  expect(copyTapeRow(row, { conversationId, title: 'new', ordinal: 1 })).toEqual([
    { position: 0, events: [event(responseIdOf(conversationId, 1))] },
  ]);
});

it('an event that stays behind leaves its position free', () => {
  const from = 'conv_22222222-2222-4222-8222-222222220000';
  const conversationId = 'conv_33333333-3333-4333-8333-333333330000';
  const delta: TapeEvent = { type: 'content_delta', documentId: 'doc_001', delta: 'abc' };
  const waiting: TapeEvent = {
    type: 'message',
    message: { responseId: responseIdOf(from, 2), content: 'x', created: '2026-11-20T12:00:00Z' },
  };
  const renamed: TapeEvent = { type: 'conversation_update', title: 'old', archived: true };
  const row = { position: 10, events: [delta, waiting, delta, renamed, waiting] };
  expect(copyTapeRow(row, { conversationId, title: 'new', ordinal: 1 })).toEqual([
    { position: 10, events: [delta] },
    {
      position: 14,
      events: [delta, { type: 'conversation_update', title: 'new', archived: false }],
    },
  ]);
});

function fork(conversationId: string, responseId: string, account: string): Promise<Response> {
  return call(`conversations/${conversationId}/forks`, { body: { responseId }, account });
}

async function forkAt(
  conversationId: string,
  responseId: string,
  account: string,
): Promise<string> {
  const response = await fork(conversationId, responseId, account);
  expect(response.status).toBe(201);
  return (await response.json<{ conversationId: string }>()).conversationId;
}

/** More than is shown at once. */
async function whole(conversationId: string, account: string) {
  const response = await call(`conversations/${conversationId}/export`, { account });
  return ConversationExport.parse(await response.json()).conversation;
}

async function useTool(
  model: HeldModel,
  bridge: ScriptedBridge,
  command: string,
  output: string,
): Promise<void> {
  (await model.next()).answer({ calls: [runCommand(command)] });
  bridge.succeed((await bridge.nextCall()).callId, output);
}

async function toBeForked() {
  const account = newAccount();
  scriptModel(() => ({ text: 'hi' }));
  const { conversationId: from } = await chat('first', { account });
  const to = { account, conversationId: newConversationId(crypto.randomUUID()) };
  return { account, to, source: { from, ordinal: 1, through: true } };
}

/** As it is left by an object that dies before the last step of a copy. */
async function halfCopied() {
  const forked = await toBeForked();
  await forkConversation(env, forked.to, forked.source);
  const stub = conversationObject(forked.to.conversationId);
  await runInDurableObject(stub, (_, { storage }) => {
    storage.sql.exec('delete from conversation');
  });
  await evictDurableObject(stub);
  return forked;
}

/** The first page says that there is another one, and that one fails. */
function breakAfterFirstPage() {
  const { forkPage } = Conversation.prototype;
  return vi.spyOn(Conversation.prototype, 'forkPage').mockImplementation(async function (
    this: Conversation,
    caller,
    point,
    start,
  ) {
    if (start.table > 0) throw new Error('reset');
    const page = await forkPage.call(this, caller, point, start);
    if (!page.ok) return page;
    const rows = page.value.rows.filter(({ table }) => table === 'tape');
    return { ok: true, value: { ...page.value, rows, next: { table: 1, offset: 0 } } };
  });
}

async function listedOf(account: string): Promise<number> {
  const list = await (await call('conversations', { account })).json<{ items: unknown[] }>();
  return list.items.length;
}
