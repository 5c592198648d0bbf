import { abortAllDurableObjects, runDurableObjectAlarm } from 'cloudflare:test';
import { expect, it, vi } from 'vitest';
import { Account } from '../../../worker/account/object.ts';
import { call, chat, errorOf, scriptModel } from '../api.ts';
import { conversationObject } from '../conversation/conversing.ts';
import { holdModel, runCommand } from '../conversation/held-model.ts';
import { connectBridge, connectLookingBridge, contextOf } from '../tunnel/scripted-bridge.ts';
import { create, list, newAccount, post, read, untilStatus } from './agents.ts';

it('an agent works without any client, and is listed with its present status', async () => {
  const account = newAccount();
  const bridge = await connectBridge({ account });
  const model = holdModel();
  const { id, status, result } = await create(account, {
    bridgeId: bridge.bridgeId,
    workspace: 'in_place',
  });
  expect({ status, result }).toEqual({ status: 'running', result: null });
  (await model.next()).answer({ calls: [runCommand('make')] });
  const { callId } = await bridge.nextCall();
  await untilStatus(account, id, 'running');
  bridge.ask(callId);
  await untilStatus(account, id, 'waiting');
  bridge.succeed(callId, 'made');
  await untilStatus(account, id, 'running');
  (await model.next()).answer({ text: 'Fixed.' });
  const done = await untilStatus(account, id, 'completed');
  expect(done).toMatchObject({ title: 'Fix it', mode: 'agent', result: 'Fixed.' });
  expect(done.usage?.totalTokens).toBe(36);
  expect((await list(account, '?status=running')).items).toEqual([]);
  expect((await list(account)).items).toMatchObject([{ id, status: 'completed' }]);
});

it('an agent is a conversation: it is read and gets messages as one', async () => {
  const account = newAccount();
  scriptModel((_, number) => ({ text: `Reply ${number}.` }));
  const { id, responseId } = await create(account, { title: 'Night work' });
  await untilStatus(account, id, 'completed');
  const view = await (await call(`conversations/${id}`, { account })).json();
  expect(view).toMatchObject({ id, title: 'Night work', responses: [{ id: responseId }] });
  await chat('more', { account, conversationId: id });
  expect(await read(account, id)).toMatchObject({ result: 'Reply 1.', status: 'completed' });
});

it('an agent shows why it failed', async () => {
  const account = newAccount();
  scriptModel(() => new Response('{}', { status: 400 }));
  const { id } = await create(account);
  const { error } = await untilStatus(account, id, 'error');
  expect(error).toMatchObject({ code: 'UPSTREAM_ERROR' });
});

it('an agent finishes once after a crash in the middle', async () => {
  const account = newAccount();
  const model = holdModel();
  const { id } = await create(account);
  await model.next();
  await abortAllDurableObjects();
  await runDurableObjectAlarm(conversationObject(id));
  (await model.next()).answer({ text: 'Fixed.' });
  expect(await untilStatus(account, id, 'completed')).toMatchObject({ result: 'Fixed.' });
  expect(model.count).toBe(2);
});

it('a follow-up keeps the model and the mode, unless it names others', async () => {
  const account = newAccount();
  const requests = scriptModel(() => ({ text: 'Done.' }));
  const { id } = await create(account, { model: 'other', mode: 'ask' });
  await untilStatus(account, id, 'completed');
  await post(account, `/${id}/followup`, { prompt: 'More' });
  await vi.waitFor(() => expect(requests).toHaveLength(2));
  expect(await untilStatus(account, id, 'completed')).toMatchObject({ mode: 'ask' });
  await post(account, `/${id}/followup`, { prompt: 'More', mode: 'agent' });
  await vi.waitFor(() => expect(requests).toHaveLength(3));
  expect(requests.map(({ model }) => model)).toEqual(['other', 'other', 'other']);
  expect(await untilStatus(account, id, 'completed')).toMatchObject({ mode: 'agent' });
});

it('a follow-up keeps the tools with their limits, unless it names others', async () => {
  const account = 'ada';
  const { bridgeId } = await connectBridge();
  const requests = scriptModel(() => ({ text: 'Done.' }));
  const tools = { read_file: { allowedPaths: ['src'] }, grep: {} };
  const { id } = await create(account, { bridgeId, tools, workspace: 'in_place' });
  await untilStatus(account, id, 'completed');
  await post(account, `/${id}/followup`, { prompt: 'More' });
  await vi.waitFor(() => expect(requests).toHaveLength(2));
  expect(await untilStatus(account, id, 'completed')).toMatchObject({ tools });
  await post(account, `/${id}/followup`, { prompt: 'More', tools: ['list_dir'] });
  await vi.waitFor(() => expect(requests).toHaveLength(3));
  expect(await untilStatus(account, id, 'completed')).toMatchObject({ tools: { list_dir: {} } });
  const names = requests.map((request) => request.tools?.map(({ function: { name } }) => name));
  expect(names).toEqual([['read_file', 'grep'], ['read_file', 'grep'], ['list_dir']]);
});

it('a follow-up keeps a mode of the workspace, also before the lookup of that mode', async () => {
  const account = 'ada';
  const bridge = await connectLookingBridge('a.ts');
  const short = { name: 'short', base: 'agent', path: 'short.md', text: 'Be short.' } as const;
  const definitions = { modes: [{ ...short, tools: ['read_file'] }], agents: [], leftOut: [] };
  bridge.sees = { ...contextOf('a.ts'), definitions };
  const model = holdModel();
  const { bridgeId } = bridge;
  const { id } = await create(account, { bridgeId, workspace: 'in_place', mode: 'short' });
  for (const prompt of ['More', 'Still more']) await post(account, `/${id}/followup`, { prompt });
  for (let replies = 0; replies < 3; replies++) {
    const reply = await model.next();
    expect(reply.request.tools?.map((tool) => tool.function.name)).toEqual(['read_file']);
    reply.answer({ text: 'Done.' });
  }
  const done = await untilStatus(account, id, 'completed');
  expect(done).toMatchObject({ mode: 'agent', ownMode: 'short' });
});

it('sends a follow-up with the same Idempotency-Key once', async () => {
  const account = newAccount();
  scriptModel(() => ({ text: 'Done.' }));
  const { id } = await create(account);
  const key = { 'idempotency-key': 'again' };
  for (let times = 0; times < 2; times++) {
    await post(account, `/${id}/followup`, { prompt: 'More' }, key);
    await untilStatus(account, id, 'completed');
  }
  const view = await (await call(`conversations/${id}`, { account })).json();
  expect(Object(view).messages).toHaveLength(2);
});

it('a follow-up can be repeated with its key after another one has changed the mode', async () => {
  const account = newAccount();
  scriptModel(() => ({ text: 'Done.' }));
  const { id } = await create(account);
  const key = { 'idempotency-key': 'again' };
  const send = async (body: object, headers = {}) => {
    await untilStatus(account, id, 'completed');
    return (await post(account, `/${id}/followup`, body, headers)).status;
  };
  expect(await send({ prompt: 'More' }, key)).toBe(200);
  expect(await send({ prompt: 'Look', mode: 'ask' })).toBe(200);
  expect(await send({ prompt: 'More' }, key)).toBe(200);
  expect(await send({ prompt: 'Else' }, key)).toBe(422);
});

it('the same Idempotency-Key makes one agent, and another request with it is refused', async () => {
  const account = newAccount();
  scriptModel(() => ({ text: 'Done.' }));
  const key = { 'idempotency-key': 'once' };
  const body = { prompt: 'Fix it', title: 'One' };
  const [first, second] = [await post(account, '', body, key), await post(account, '', body, key)];
  expect([first.status, second.status]).toEqual([201, 201]);
  const { id } = Object(await first.json());
  expect(Object(await second.json()).id).toBe(id);
  const other = await post(account, '', { ...body, title: 'Two' }, key);
  expect(await errorOf(other)).toMatchObject({ status: 422, code: 'IDEMPOTENCY_CONFLICT' });
});

it('stopping ends the current response and those that wait, and changes nothing afterwards', async () => {
  const account = newAccount();
  const model = holdModel();
  const { id } = await create(account);
  const reply = await model.next();
  await post(account, `/${id}/followup`, { prompt: 'More' });
  const stopped = await (await post(account, `/${id}/stop`)).json();
  expect(stopped).toMatchObject({ status: 'cancelled' });
  await reply.untilAborted();
  await untilStatus(account, id, 'cancelled');
  expect(await (await post(account, `/${id}/stop`)).json()).toMatchObject({ status: 'cancelled' });
  expect(model.count).toBe(1);
});

it('an archived agent stops, takes no follow-up, and can be brought back', async () => {
  const account = newAccount();
  const model = holdModel();
  const { id } = await create(account);
  await model.next();
  expect(await (await post(account, `/${id}/archive`)).json()).toMatchObject({
    status: 'archived',
  });
  await untilStatus(account, id, 'archived');
  expect((await list(account)).items).toEqual([]);
  const refused = await errorOf(await post(account, `/${id}/followup`, { prompt: 'More' }));
  expect(refused).toMatchObject({ status: 409, code: 'AGENT_ARCHIVED' });
  await post(account, `/${id}/unarchive`);
  await untilStatus(account, id, 'cancelled');
});

it('deletes an agent with its conversation', async () => {
  const account = newAccount();
  scriptModel(() => ({ text: 'Done.' }));
  const { id } = await create(account);
  await untilStatus(account, id, 'completed');
  const deleted = await call(`agents/${id}`, { method: 'DELETE', account });
  expect(deleted.status).toBe(204);
  expect((await call(`agents/${id}`, { account })).status).toBe(404);
  expect((await call(`conversations/${id}`, { account })).status).toBe(404);
  expect((await list(account)).items).toEqual([]);
});

it('the list has pages', async () => {
  const account = newAccount();
  scriptModel(() => ({ text: 'Done.' }));
  const ids: string[] = [];
  for (let made = 0; made < 3; made++) {
    const { id } = await create(account);
    await untilStatus(account, id, 'completed');
    ids.unshift(id);
  }
  await chat('no agent', { account });
  const first = await list(account, '?limit=2');
  expect(first.items.map(({ id }) => id)).toEqual(ids.slice(0, 2));
  const second = await list(account, `?limit=2&cursor=${first.nextCursor}`);
  expect(second).toMatchObject({ items: [{ id: ids[2] }], nextCursor: null });
});

it.each([
  ['an alarm', () => undefined],
  ['a crash', abortAllDurableObjects],
])('the account learns after %s of a status that it did not take', async (_, after) => {
  const account = newAccount();
  const model = holdModel();
  const { id } = await create(account);
  const reply = await model.next();
  await untilStatus(account, id, 'running');
  const broken = () => {
    throw new Error('reset');
  };
  const lost = [
    vi.spyOn(Account.prototype, 'answered').mockImplementation(broken),
    vi.spyOn(Account.prototype, 'update').mockImplementation(broken),
  ];
  reply.answer({ text: 'Done.' });
  await vi.waitFor(() => expect(lost[1]).toHaveBeenCalled());
  expect((await list(account)).items).toMatchObject([{ status: 'running' }]);
  for (const spy of lost) spy.mockRestore();
  await after();
  expect(await runDurableObjectAlarm(conversationObject(id))).toBe(true);
  await vi.waitFor(async () =>
    expect((await list(account)).items).toMatchObject([{ status: 'completed' }]),
  );
});

it('a conversation that is no agent, and an agent of another account, are not found', async () => {
  const account = newAccount();
  scriptModel(() => ({ text: 'Done.' }));
  const { conversationId } = await chat('plain', { account });
  const { id } = await create(newAccount());
  for (const other of [conversationId, id]) {
    const paths = ['followup', 'stop', 'archive', 'unarchive'].map((verb) => `/${other}/${verb}`);
    for (const path of paths) {
      const refused = await post(account, path, path.endsWith('followup') ? { prompt: 'x' } : {});
      expect([path, refused.status]).toEqual([path, 404]);
    }
    expect((await call(`agents/${other}`, { method: 'DELETE', account })).status).toBe(404);
  }
  expect((await call(`conversations/${conversationId}`, { account })).status).toBe(200);
});

it.each([
  ['INVALID_REQUEST', { budget: { maxTokens: 0 } }],
  ['INVALID_REQUEST', { budget: {} }],
  ['INVALID_REQUEST', { prompt: ' ' }],
  ['INVALID_REQUEST', { repository: 'a/b' }],
  ['NOT_FOUND', { bridgeId: `bridge_${crypto.randomUUID()}` }],
])('%s: %j makes no agent', async (code, more) => {
  const account = newAccount();
  const refused = await errorOf(await post(account, '', { prompt: 'Fix it', ...more }));
  expect(refused).toMatchObject({ code });
  expect((await list(account)).items).toEqual([]);
});
