import { evictDurableObject, runDurableObjectAlarm, runInDurableObject } from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import { expect, it } from 'vitest';
import type { ConversationList } from '../../../shared/api/conversations.ts';
import { HOUR } from '../../../shared/units.ts';
import { SubagentState } from '../../../shared/wire/subagents.ts';
import { ask, call, chat, errorOf, scriptModel } from '../api.ts';
import { SseReader } from '../follow/sse-reader.ts';
import { configure } from '../settings.ts';
import { connectBridge, connectLookingBridge } from '../tunnel/scripted-bridge.ts';
import {
  alarmOf,
  askStreamed,
  conversationObject,
  newAccount,
  readView,
  tablesOf,
} from './conversing.ts';
import { holdModel, runCommand } from './held-model.ts';
import { shiftClock } from './shifted-clock.ts';
import { scriptTree, taskCall } from './subagents/tree.ts';

const DAY_HOURS = 24;
const PRIVATE = { deleteAfterHours: DAY_HOURS };

it('has its text until its hour, at every position, and clear answers afterwards', async () => {
  const account = newAccount();
  scriptModel(() => ({ text: 'secret-answer' }));
  const { id, conversationId } = await chat('secret-question', { account, ...PRIVATE });
  const before = await readView(conversationId, { account });
  expect(before.privacy?.deleteAfterHours).toBe(DAY_HOURS);
  const dueMs = Date.parse(before.privacy?.deletes ?? '');
  expect(Math.abs(dueMs - Date.now() - DAY_HOURS * HOUR)).toBeLessThan(10_000);

  const clock = shiftClock(DAY_HOURS * HOUR - 60_000);
  expect(await runDurableObjectAlarm(conversationObject(conversationId))).toBe(true);
  const events = `chat/completions/${id}/events`;
  const seen = await new SseReader(await call(`${events}?after=0`, { account })).toEnd();
  expect(seen.at(-1)?.event.type).toBe('done');
  expect(JSON.stringify(seen)).toContain('secret-answer');

  clock.aheadMs = DAY_HOURS * HOUR + 1_000;
  await lapse(conversationId);
  const view = await readView(conversationId, { account });
  expect(view).toMatchObject({ title: '', messages: [], responses: [] });
  expect(view.privacy).toMatchObject({ ...PRIVATE, deleted: expect.any(String) });
  for (const path of [
    ...[events, `${events}?after=5`, `conversations/${conversationId}/events?after=3`],
    ...[`chat/completions/${id}`, `conversations/${conversationId}/export`],
  ]) {
    const refused = await errorOf(await call(path, { account }));
    expect(refused).toMatchObject({ status: 410, code: 'CONTENT_DELETED' });
  }
  const more = await errorOf(await ask('more', { account, conversationId }));
  expect(more).toMatchObject({ status: 410, code: 'CONTENT_DELETED' });
  const fork = { account, body: { responseId: id } };
  const forked = await errorOf(await call(`conversations/${conversationId}/forks`, fork));
  expect(forked).toMatchObject({ code: 'CONTENT_DELETED' });
  const other = await call(`conversations/${conversationId}`, { account: newAccount() });
  expect(other.status).toBe(404);
  expect(await everyRow(conversationId)).not.toMatch(/secret/);

  await evictDurableObject(conversationObject(conversationId));
  expect((await readView(conversationId, { account })).privacy?.deleted).toBe(
    view.privacy?.deleted,
  );
  await call(`conversations/${conversationId}`, { method: 'DELETE', account });
  expect(await tablesOf(conversationId)).toEqual([]);
});

it('shows the account neither its title nor its words, but what it has spent', async () => {
  const account = newAccount();
  scriptModel(() => ({ text: 'secret-answer' }));
  const { conversationId } = await chat('secret-question', { account, ...PRIVATE });
  const patch = { method: 'PATCH', body: { title: 'secret-title' }, account };
  expect((await call(`conversations/${conversationId}`, patch)).status).toBe(200);
  expect((await readView(conversationId, { account })).title).toBe('secret-title');
  const list: ConversationList = await (await call('conversations', { account })).json();
  expect(list.items).toMatchObject([{ id: conversationId, title: 'Private conversation' }]);
  expect(await rowsOfAccount(account)).not.toMatch(/secret/);
  shiftClock(DAY_HOURS * HOUR + 1_000);
  await lapse(conversationId);
  const usage = await (await call('me/usage', { account })).json();
  expect(usage).toMatchObject({ items: [{ responses: 1, totalTokens: 18 }] });
});

it('an answer that runs when the hour comes is finished, and the text goes after it', async () => {
  const account = newAccount();
  const model = holdModel();
  const bridge = await connectBridge({ account });
  const first = await askStreamed({ account, bridgeId: bridge.bridgeId, ...PRIVATE });
  (await model.next()).answer({ text: 'one' });
  await first.reader.toEnd();
  const { conversationId } = first;
  const clock = shiftClock(DAY_HOURS * HOUR - 1_000);
  const second = await askStreamed({ account, conversationId });
  const reply = await model.next();
  clock.aheadMs += 2_000;
  await runDurableObjectAlarm(conversationObject(conversationId));
  expect((await readView(conversationId, { account })).privacy?.deletes).toBeUndefined();
  reply.answer({ text: 'two' });
  expect((await second.reader.toEnd()).at(-1)?.event.type).toBe('done');
  expect((await call(`chat/completions/${second.responseId}`, { account })).status).toBe(200);
  clock.aheadMs += DAY_HOURS * HOUR + 1_000;
  await lapse(conversationId);
  expect((await readView(conversationId, { account })).privacy?.deleted).toBeDefined();
});

it('is refused from its hour on, also before the late alarm, which a crash cannot lose', async () => {
  const account = newAccount();
  scriptModel(() => ({ text: 'hi' }));
  const { id, conversationId } = await chat('one', { account, ...PRIVATE });
  expect(await alarmOf(conversationId)).not.toBeNull();
  await evictDurableObject(conversationObject(conversationId));
  shiftClock(DAY_HOURS * HOUR + 1_000);
  const late = await errorOf(await ask('more', { account, conversationId }));
  expect(late).toMatchObject({ code: 'CONTENT_DELETED' });
  expect((await call(`chat/completions/${id}`, { account })).status).toBe(410);
});

it('is known as deleted where a crash came between the end of its file and the row that stays', async () => {
  const account = newAccount();
  scriptModel(() => ({ text: 'hi' }));
  const { id, conversationId } = await chat('one', { account, ...PRIVATE });
  const stub = conversationObject(conversationId);
  await runInDurableObject(stub, (_, { storage }) => storage.deleteAll());
  await evictDurableObject(stub);
  expect((await call(`chat/completions/${id}`, { account })).status).toBe(410);
  expect((await readView(conversationId, { account })).privacy).toMatchObject({
    ...PRIVATE,
    deleted: expect.any(String),
  });
  const stranger = await call(`conversations/${conversationId}`, { account: newAccount() });
  expect(stranger.status).toBe(404);
});

it('a fork keeps the hour of what it copies, and subagents go with their parent', async () => {
  const account = newAccount();
  const { bridgeId } = await connectBridge({ account });
  scriptTree({
    go: [{ calls: [taskCall('secret-work')] }, { text: 'Over.' }],
    'secret-work': [{ text: 'secret-result' }],
  });
  const { id, conversationId } = await chat('go', { account, bridgeId, ...PRIVATE });
  const { responses } = await readView(conversationId, { account });
  const state = SubagentState.parse(responses[0]?.documents[0]?.metadata['subagent']);
  const child = state.conversationId ?? '';
  const clock = shiftClock(2 * HOUR);
  const body = { responseId: id };
  const answer = await call(`conversations/${conversationId}/forks`, { account, body });
  const fork = (await answer.json<{ conversationId: string }>()).conversationId;
  const { privacy } = await readView(fork, { account });
  const hoursLeft = (Date.parse(privacy?.deletes ?? '') - Date.now()) / HOUR;
  expect(Math.round(hoursLeft)).toBe(DAY_HOURS - 2);
  clock.aheadMs = DAY_HOURS * HOUR + 1_000;
  for (const each of [conversationId, fork]) await lapse(each);
  for (const each of [conversationId, fork, child]) {
    expect(await everyRow(each)).not.toMatch(/secret/);
  }
  expect(await tablesOf(child)).toEqual([]);
});

it('no call of it is stored in the tunnel, and one that waits for its bridge still runs', async () => {
  const account = newAccount();
  const model = holdModel();
  const bridge = await connectBridge({ account });
  const { bridgeId } = bridge;
  const asked = await askStreamed({ account, bridgeId, ...PRIVATE });
  const reply = await model.next();
  await bridge.leave();
  reply.answer({ calls: [runCommand('echo secret-command')] });
  await asked.reader.untilType('tool_call_arguments');
  const tunnel = env.TUNNELS.getByName(bridgeId);
  await expect.poll(() => rowsIn(tunnel)).toMatch(/"calls",\[\{/);
  expect(await rowsIn(tunnel)).not.toMatch(/secret/);
  await evictDurableObject(tunnel);
  const back = await connectBridge({ account, bridgeId });
  const { callId, arguments: args, isPrivate } = await back.nextCall();
  expect([args['command'], isPrivate]).toEqual(['echo secret-command', true]);
  back.succeed(callId, 'secret-output');
  (await model.next()).answer({ text: 'done' });
  await asked.reader.toEnd();
  expect(await rowsIn(tunnel)).not.toMatch(/secret|"calls",\[\{/);
});

it('is private by the default of the account, or else of the server', async () => {
  const account = newAccount();
  scriptModel(() => ({ text: 'hi' }));
  const me = async () => (await call('me', { account })).json();
  const hoursOf = async (more = {}) => {
    const { conversationId } = await chat('one', { account, ...more });
    return (await readView(conversationId, { account })).privacy?.deleteAfterHours;
  };
  expect(await hoursOf()).toBeUndefined();
  configure({ DELETE_AFTER_HOURS: '48' });
  expect([await me(), await hoursOf()]).toMatchObject([{ deleteAfterHours: 48 }, 48]);
  const set = (hours: number | null) =>
    call('me', { account, method: 'PATCH', body: { deleteAfterHours: hours } });
  expect(await (await set(2)).json()).toMatchObject({ deleteAfterHours: 2 });
  expect([await hoursOf(), await hoursOf({ deleteAfterHours: 1 })]).toEqual([2, 1]);
  await set(null);
  expect([await hoursOf(), await hoursOf(PRIVATE)]).toEqual([undefined, DAY_HOURS]);
  configure({ DELETE_AFTER_HOURS: 'a day' });
  await set(3);
  expect(await hoursOf()).toBe(3);
});

it('refuses settings that it could not keep', async () => {
  const account = newAccount();
  scriptModel(() => ({ text: 'hi' }));
  const { conversationId } = await chat('one', { account });
  for (const body of [
    { deleteAfterHours: -1 },
    { deleteAfterHours: 721 },
    { deleteAfterHours: 1.5 },
    { deleteAfterHours: 1, conversationId },
  ]) {
    expect(await errorOf(await ask('more', { account, ...body }))).toMatchObject({
      code: 'INVALID_REQUEST',
      message: expect.stringContaining('deleteAfterHours'),
    });
  }
  configure({ DELETE_AFTER_HOURS: 'a day' });
  expect(await errorOf(await ask('one', { account }))).toMatchObject({ code: 'NOT_CONFIGURED' });
});

it('goes only to models that keep nothing, which get `store: false`, and to no other for its title', async () => {
  const account = newAccount();
  const requests = scriptModel(() => ({ text: 'hi' }));
  const open = { baseUrl: 'http://model.test/v1' };
  configure({
    MODELS: [
      { id: 'open', ...open, fallbacks: ['kept'] },
      { id: 'kept', ...open, isPrivate: true, fallbacks: ['open'] },
      { id: 'titles', ...open, roles: ['fast', 'summary'], isPrivate: true },
    ],
    PRIVATE_MODELS: 'none',
  });
  const refused = await ask('one', { account, model: 'open', ...PRIVATE });
  expect(await errorOf(refused)).toMatchObject({
    status: 400,
    code: 'MODEL_NOT_PRIVATE',
    message: expect.stringContaining('name one of kept'),
  });
  const { status, model, conversationId } = await chat('one', { account, ...PRIVATE });
  expect([status, model]).toEqual(['completed', 'kept']);
  await chat('two', { account, conversationId });
  const other = await ask('three', { account, conversationId, model: 'open' });
  expect(await errorOf(other)).toMatchObject({ code: 'MODEL_NOT_PRIVATE' });
  expect(requests.map(({ model }) => model)).toEqual(['kept', 'kept']);
  expect(requests).toMatchObject([{ store: false }, { store: false }]);
});

/** Runs the alarm, which is late because tests cannot shift the runtime's own clock. */
async function lapse(conversationId: string): Promise<void> {
  await runDurableObjectAlarm(conversationObject(conversationId));
}

async function everyRow(conversationId: string): Promise<string> {
  return await rowsIn(conversationObject(conversationId));
}

async function rowsOfAccount(account: string): Promise<string> {
  return await rowsIn(env.ACCOUNTS.getByName(account));
}

/** All rows of an object as JSON. */
function rowsIn(stub: DurableObjectStub): Promise<string> {
  return runInDurableObject(stub, (_, { storage: { sql } }) => {
    const tables = sql
      .exec<{ name: string }>("select name from sqlite_master where type = 'table'")
      .toArray()
      .filter(({ name }) => !name.startsWith('_cf'));
    return JSON.stringify(
      tables.map(({ name }) => [name, sql.exec(`select * from "${name}"`).toArray()]),
    );
  });
}

it('says to its bridge with each message that the words are private, the first one too', async () => {
  const { bridgeId, asked } = await connectLookingBridge();
  scriptModel(() => ({ text: 'Done.' }));
  const { conversationId } = await chat('one', { bridgeId, ...PRIVATE });
  await chat('two', { conversationId });
  await chat('open', { bridgeId });
  expect(asked.map((look) => look?.search)).toEqual([
    { query: 'one', mode: 'agent', isPrivate: true },
    { query: 'two', mode: 'agent', isPrivate: true },
    { query: 'open', mode: 'agent' },
  ]);
});
