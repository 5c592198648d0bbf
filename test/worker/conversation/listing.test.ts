import {
  env,
  evictDurableObject,
  runDurableObjectAlarm,
  runInDurableObject,
} from 'cloudflare:test';
import { expect, it, onTestFinished, vi } from 'vitest';
import { ConversationInfo, type ConversationList } from '../../../shared/api/conversations.ts';
import { Account } from '../../../worker/account/object.ts';
import { MIGRATIONS } from '../../../worker/conversation/store/schema.ts';
import { ask, call, chat, errorOf, scriptModel } from '../api.ts';
import { SseReader } from '../follow/sse-reader.ts';
import { olderTables } from '../older-tables.ts';
import {
  askStreamed,
  cancel,
  conversationObject,
  newAccount,
  readView,
  startAnswer,
} from './conversing.ts';
import { holdModel } from './held-model.ts';

it('a conversation on the list stands there from its first message on, under the first line of it', async () => {
  const account = newAccount();
  const model = holdModel();
  const sent = await ask('\n  Fix the lexer \nplease', { stream: true, account });
  const reply = await model.next();
  expect(await list(account)).toMatchObject([{ title: 'Fix the lexer', archived: false }]);
  reply.answer({ text: 'Done.' });
  await new SseReader(sent).toEnd();
});

it('a conversation on the list moves up with each answer, and is found by what was said', async () => {
  const account = newAccount();
  scriptModel((_, number) => ({
    text: `Reply ${number}.\n\n\`\`\`ts\nconst zebra = 1;\n\`\`\``,
  }));
  const first = await chat('one giraffe', { account });
  await chat('two', { account });
  expect((await list(account)).map(({ title }) => title)).toEqual(['two', 'one giraffe']);
  await chat('ELEPHANT', { account, conversationId: first.conversationId });
  await vi.waitFor(async () => {
    expect((await list(account)).map(({ title }) => title)).toEqual(['one giraffe', 'two']);
    expect(await list(account, 'elephant')).toHaveLength(1);
  });
  expect(await list(account, 'giraffe reply')).toMatchObject([{ id: first.conversationId }]);
  expect(await list(account, 'zebra')).toHaveLength(2);
});

it('a conversation on the list costs its account a row when a response ends, and one before if it lasts', async () => {
  const account = newAccount();
  const model = holdModel();
  const first = await askStreamed({ account });
  (await model.next()).answer({ text: 'hi' });
  await first.reader.toEnd();
  const { conversationId } = first;
  const rows = await rowsWrittenBy(account, async (written) => {
    const quick = await askStreamed({ account, conversationId });
    (await model.next()).answer({ text: 'a reply of some length '.repeat(200) });
    await quick.reader.toEnd();
    await vi.waitFor(() => expect(written()).toBe(1));
    const lasting = await askStreamed({ account, conversationId });
    const turn = await model.next();
    await vi.waitFor(() => expect(written()).toBe(2));
    turn.answer({ text: 'hi' });
    await lasting.reader.toEnd();
    await vi.waitFor(() => expect(written()).toBeGreaterThan(2));
  });
  expect(rows).toBe(3);
});

it('a conversation on the list sends with the next response what the account did not hear', async () => {
  const account = newAccount();
  scriptModel(() => ({ text: 'hi' }));
  const { conversationId } = await chat('zero', { account });
  const lost = vi.spyOn(Account.prototype, 'answered').mockImplementation(() => {
    throw new Error('reset');
  });
  expect(await chat('rhinoceros', { account, conversationId })).toMatchObject({
    status: 'completed',
  });
  await vi.waitFor(() => expect(lost).toHaveBeenCalled());
  lost.mockRestore();
  expect(await list(account, 'rhinoceros')).toEqual([]);
  await chat('two', { account, conversationId });
  await vi.waitFor(async () => expect(await list(account, 'rhinoceros')).toHaveLength(1));
});

it('a conversation on the list says again that its run has ended, where the account did not hear it', async () => {
  const account = newAccount();
  scriptModel(() => ({ text: 'hi' }));
  const { conversationId } = await chat('zero', { account });
  const { answered } = Account.prototype;
  const heard: unknown[] = [];
  const spied = vi.spyOn(Account.prototype, 'answered');
  spied.mockImplementation(function (this: Account, exchange) {
    heard.push(exchange.run?.status);
    if (heard.length === 1) throw new Error('reset');
    return answered.call(this, exchange);
  });
  onTestFinished(() => spied.mockRestore());
  await chat('one', { account, conversationId });
  await vi.waitFor(() => expect(heard).toHaveLength(1));
  await runDurableObjectAlarm(conversationObject(conversationId));
  await vi.waitFor(() => expect(heard).toEqual(['completed', 'completed']));
});

it('a conversation on the list is brought back by the next response when the list has lost it', async () => {
  const account = newAccount();
  scriptModel(() => ({ text: 'hi' }));
  const { conversationId } = await chat('lost', { account });
  await env.ACCOUNTS.get(env.ACCOUNTS.idFromName(account)).forget(conversationId);
  expect(await list(account)).toEqual([]);
  await chat('again', { account, conversationId });
  await vi.waitFor(async () => expect(await list(account)).toMatchObject([{ title: 'lost' }]));
});

it('a conversation on the list counts a message that was cancelled before its turn', async () => {
  const account = newAccount();
  const model = holdModel();
  const first = await askStreamed({ account });
  const reply = await model.next();
  const { conversationId } = first;
  const second = await ask('hippopotamus', { stream: true, account, conversationId });
  await cancel(second.headers.get('drawbridge-response-id') ?? '', account);
  await vi.waitFor(async () => expect(await list(account, 'hippopotamus')).toHaveLength(1));
  reply.answer({ text: 'x' });
  await first.reader.toEnd();
});

it('PATCH conversations/{id} renames and archives: sent to followers, to the list and by the conversation', async () => {
  const account = newAccount();
  scriptModel(() => ({ text: 'hi' }));
  const { conversationId } = await chat('one', { account });
  const follower = new SseReader(await call(`conversations/${conversationId}/events`, { account }));
  const response = await patch(conversationId, { title: '  Renamed ', archived: true }, account);
  const info = ConversationInfo.parse(await response.json());
  expect(info).toMatchObject({ id: conversationId, title: 'Renamed', archived: true });
  expect((await follower.untilType('conversation_update')).at(-1)?.event).toEqual({
    type: 'conversation_update',
    title: 'Renamed',
    archived: true,
  });
  await follower.leave();
  expect(await list(account)).toEqual([]);
  expect(await list(account, '', 'true')).toEqual([info]);
  expect(await readView(conversationId, { account })).toMatchObject({
    title: 'Renamed',
    archived: true,
  });
  await evictDurableObject(conversationObject(conversationId));
  expect(await readView(conversationId, { account })).toMatchObject({
    title: 'Renamed',
    archived: true,
  });
});

it('PATCH conversations/{id} leaves no trace when it changes nothing, and changes only what it names', async () => {
  const account = newAccount();
  scriptModel(() => ({ text: 'hi' }));
  const { conversationId } = await chat('one', { account });
  await patch(conversationId, { title: 'two' }, account);
  const before = await rowCount(conversationId);
  const again = await patch(conversationId, { title: 'two', archived: false }, account);
  expect(await again.json()).toMatchObject({ title: 'two', archived: false });
  expect(await rowCount(conversationId)).toBe(before);
  await patch(conversationId, { archived: true }, account);
  expect(await readView(conversationId, { account })).toMatchObject({
    title: 'two',
    archived: true,
  });
});

it('PATCH conversations/{id} is no answer: the place in the list stays', async () => {
  const account = newAccount();
  scriptModel(() => ({ text: 'hi' }));
  const { conversationId } = await chat('one', { account });
  await chat('two', { account });
  await patch(conversationId, { title: 'renamed' }, account);
  expect((await list(account)).map(({ title }) => title)).toEqual(['two', 'renamed']);
});

it('PATCH conversations/{id} works in the middle of a response, which goes on under the new name', async () => {
  const account = newAccount();
  const { reader, conversationId, reply } = await startAnswer({ account });
  await patch(conversationId, { title: 'meanwhile' }, account);
  reply.answer({ text: 'Done.' });
  await reader.toEnd();
  expect(reader.events.some(({ event }) => event.type === 'conversation_update')).toBe(false);
  expect(await readView(conversationId, { account })).toMatchObject({
    title: 'meanwhile',
    responses: [{ status: 'completed', documents: [{ content: 'Done.' }] }],
  });
  expect(await list(account)).toMatchObject([{ title: 'meanwhile' }]);
});

it.each<[string, unknown]>([
  ['nothing', {}],
  ['an empty title', { title: '  ' }],
  ['a title that is too long', { title: 'x'.repeat(201) }],
  ['archived as text', { archived: 'yes' }],
])('PATCH conversations/{id} refuses %s', async (_, body) => {
  const error = await errorOf(
    await patch('conv_11111111-1111-4111-8111-111111110000', body, 'ada'),
  );
  expect(error).toMatchObject({ status: 400, code: 'INVALID_REQUEST' });
});

it('a conversation of the version before has a title, and can be changed and answered', async () => {
  const account = newAccount();
  scriptModel(() => ({ text: 'hi' }));
  const { conversationId } = await chat('from before\nmore', { account });
  const stub = conversationObject(conversationId);
  const makeOlder = await olderTables(MIGRATIONS, 1);
  await runInDurableObject(stub, (_, { storage: { sql } }) => {
    makeOlder(sql);
  });
  await evictDurableObject(stub);
  expect(await readView(conversationId, { account })).toMatchObject({
    title: 'from before',
    archived: false,
  });
  await patch(conversationId, { archived: true }, account);
  await evictDurableObject(stub);
  expect(await readView(conversationId, { account })).toMatchObject({
    title: 'from before',
    archived: true,
  });
  expect(await chat('more', { account, conversationId })).toMatchObject({ status: 'completed' });
  const { responses } = await readView(conversationId, { account });
  expect(responses).toMatchObject([{ status: 'completed' }, { status: 'completed' }]);
});

async function list(
  account: string,
  search = '',
  archived = 'false',
): Promise<ConversationList['items']> {
  const query = new URLSearchParams({ search, archived });
  const body: ConversationList = await (await call(`conversations?${query}`, { account })).json();
  return body.items;
}

function patch(conversationId: string, body: unknown, account: string): Promise<Response> {
  return call(`conversations/${conversationId}`, { method: 'PATCH', body, account });
}

function rowCount(conversationId: string): Promise<unknown> {
  return runInDurableObject(
    conversationObject(conversationId),
    (_, { storage }) => storage.sql.exec('select count(*) as count from tape').one()['count'],
  );
}

/** Rows that the account's object writes meanwhile. */
async function rowsWrittenBy(
  account: string,
  work: (written: () => number) => Promise<void>,
): Promise<number> {
  const cursors: { readonly rowsWritten: number }[] = [];
  const written = () => cursors.reduce((sum, { rowsWritten }) => sum + rowsWritten, 0);
  const stub = env.ACCOUNTS.get(env.ACCOUNTS.idFromName(account));
  await runInDurableObject(stub, (_, { storage }) => {
    const { sql } = storage;
    const prototype: SqlStorage = Object.getPrototypeOf(sql);
    const { exec } = prototype;
    vi.spyOn(prototype, 'exec').mockImplementation(function (this: SqlStorage, ...parameters) {
      const cursor = Reflect.apply(exec, this, parameters);
      if (/\bconversations\b/.test(String(parameters[0]))) cursors.push(cursor);
      return cursor;
    });
  });
  await work(written);
  return written();
}
