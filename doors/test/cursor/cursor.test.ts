import { SELF } from 'cloudflare:test';
import { expect, it, vi } from 'vitest';
import { askCursor, cursor, newAccount, untilStatus } from '../../../test/worker/agents/agents.ts';
import { scriptModel, tokenFor } from '../../../test/worker/api.ts';
import { holdModel } from '../../../test/worker/conversation/held-model.ts';
import { Conversation } from '../../../worker/conversation/object.ts';
import { callV1 } from '../openai/completing.ts';

it('an agent is created, read, gets a run and is archived in Cursor’s shapes', async () => {
  const account = newAccount();
  scriptModel(() => ({ text: 'Done.' }));
  const body = { prompt: { text: 'Fix it' }, name: 'Night', mode: 'plan', model: { id: 'other' } };
  const { agent, run } = await cursor(account, 'POST', '', body);
  expect(agent).toEqual({
    id: expect.stringMatching(/^bc-[0-9a-f-]{36}$/),
    name: 'Night',
    status: 'ACTIVE',
    env: { type: 'machine' },
    url: expect.stringContaining('/api/v1/agents/conv_'),
    createdAt: expect.any(String),
    updatedAt: expect.any(String),
    latestRunId: run.id,
  });
  expect(run).toMatchObject({ id: expect.stringMatching(/^run-/), agentId: agent.id });
  const ours = agent.id.replace('bc-', 'conv_');
  await untilStatus(account, ours, 'completed');
  expect(await cursor(account, 'GET', `/${agent.id}/runs/${run.id}`)).toMatchObject({
    status: 'FINISHED',
    result: 'Done.',
    durationMs: expect.any(Number),
  });
  const more = await cursor(account, 'POST', `/${agent.id}/runs`, { prompt: { text: 'More' } });
  await untilStatus(account, ours, 'completed');
  expect(await cursor(account, 'GET', `/${agent.id}`)).toMatchObject({
    latestRunId: more.run.id,
  });
  const list = await cursor(account, 'GET', '?limit=1');
  expect(list).toMatchObject({ items: [{ id: agent.id }] });
  expect(list).not.toHaveProperty('nextCursor');
  expect(await cursor(account, 'POST', `/${agent.id}/archive`)).toEqual({ id: agent.id });
  expect((await cursor(account, 'GET', '')).items).toEqual([]);
  const archived = { id: agent.id, status: 'ARCHIVED' };
  expect(await cursor(account, 'GET', '?includeArchived=true')).toMatchObject({
    items: [archived],
  });
  const refused = await cursor(account, 'POST', `/${agent.id}/runs`, { prompt: { text: 'x' } });
  expect(refused.error.code).toBe('agent_archived');
  await cursor(account, 'POST', `/${agent.id}/unarchive`);
  expect(await cursor(account, 'DELETE', `/${agent.id}`)).toEqual({ id: agent.id });
  expect((await cursor(account, 'GET', `/${agent.id}`)).error.code).toBe('not_found');
});

it('a run keeps the model and the mode of the one before', async () => {
  const account = newAccount();
  const requests = scriptModel(() => ({ text: 'Done.' }));
  const body = { prompt: { text: 'Look' }, mode: 'plan', model: { id: 'other' } };
  const { agent } = await cursor(account, 'POST', '', body);
  const ours = agent.id.replace('bc-', 'conv_');
  await untilStatus(account, ours, 'completed');
  await cursor(account, 'POST', `/${agent.id}/runs`, { prompt: { text: 'More' } });
  expect(await untilStatus(account, ours, 'completed')).toMatchObject({ mode: 'plan' });
  expect(requests.map(({ model }) => model)).toEqual(['other', 'other']);
});

it('the runs of an agent are listed page by page, the newest first', async () => {
  const account = newAccount();
  scriptModel(() => ({ text: 'Done.' }));
  const { agent, run } = await cursor(account, 'POST', '', { prompt: { text: 'Fix it' } });
  const id = agent.id.replace('bc-', 'conv_');
  await untilStatus(account, id, 'completed');
  const more = await cursor(account, 'POST', `/${agent.id}/runs`, { prompt: { text: 'More' } });
  await vi.waitFor(async () => {
    const { items } = await cursor(account, 'GET', `/${agent.id}/runs`);
    expect(items).toMatchObject([
      { id: more.run.id, status: 'FINISHED', agentId: agent.id },
      { id: run.id, status: 'FINISHED', result: 'Done.' },
    ]);
  });
  const first = await cursor(account, 'GET', `/${agent.id}/runs?limit=1`);
  expect(first).toMatchObject({ items: [{ id: more.run.id }], nextCursor: expect.any(String) });
  const page = `/${agent.id}/runs?limit=1&cursor=${first.nextCursor}`;
  const second = await cursor(account, 'GET', page);
  expect(second.items).toMatchObject([{ id: run.id }]);
  expect(second).not.toHaveProperty('nextCursor');
  for (const bad of ['x', run.id.replace(/.$/, 'f')]) {
    const refused = await cursor(account, 'GET', `/${agent.id}/runs?cursor=${bad}`);
    expect(refused.error.code).toBe('invalid_cursor');
  }
  const foreign = await cursor(newAccount(), 'GET', `/${agent.id}/runs`);
  expect(foreign.error.code).toBe('not_found');
});

it('an Idempotency-Key makes an agent and a run once', async () => {
  const account = newAccount();
  scriptModel(() => ({ text: 'Done.' }));
  const twice = async (path: string, key: string, body: object) => [
    await cursor(account, 'POST', path, body, key),
    await cursor(account, 'POST', path, body, key),
  ];
  const [first, again] = await twice('', 'a', { prompt: { text: 'Fix it' } });
  expect(again.agent.id).toBe(first.agent.id);
  await untilStatus(account, first.agent.id.replace('bc-', 'conv_'), 'completed');
  const [more, same] = await twice(`/${first.agent.id}/runs`, 'b', { prompt: { text: 'More' } });
  expect(same.run.id).toBe(more.run.id);
  const other = await cursor(account, 'POST', '', { prompt: { text: 'Else' } }, 'a');
  expect(other.error.code).toBe('idempotency_conflict');
});

it('one run is active at a time, and a run is cancelled once', async () => {
  const account = newAccount();
  const model = holdModel();
  const { agent, run } = await cursor(account, 'POST', '', { prompt: { text: 'Go' } });
  await model.next();
  const busy = await cursor(account, 'POST', `/${agent.id}/runs`, { prompt: { text: 'x' } });
  expect(busy.error.code).toBe('agent_busy');
  const cancel = `/${agent.id}/runs/${run.id}/cancel`;
  expect(await cursor(account, 'POST', cancel)).toEqual({ id: run.id });
  expect((await cursor(account, 'POST', cancel)).error.code).toBe('run_not_cancellable');
});

it('repeats a client’s own agentId in every answer', async () => {
  const account = newAccount();
  scriptModel(() => ({ text: 'Done.' }));
  const agentId = `bc-${crypto.randomUUID()}`;
  const { agent, run } = await cursor(account, 'POST', '', { ...GO, agentId });
  expect([agent.id, run.agentId]).toEqual([agentId, agentId]);
  await untilStatus(account, conversationOf(agentId), 'completed');
  expect(await cursor(account, 'GET', `/${agentId}`)).toMatchObject({ id: agentId });
  const path = `/${agentId}/runs/${run.id}`;
  expect(await cursor(account, 'GET', path)).toMatchObject({ id: run.id, agentId });
  const { items } = await cursor(account, 'GET', '');
  expect(items).toMatchObject([{ id: agentId.replace(/....$/, '0000') }]);
  expect(await cursor(account, 'GET', `/${items[0].id}`)).toMatchObject({ latestRunId: run.id });
  expect(await cursor(account, 'DELETE', `/${agentId}`)).toEqual({ id: agentId });
});

it('refuses a taken agentId, also of another account', async () => {
  const account = newAccount();
  scriptModel(() => ({ text: 'Done.' }));
  const agentId = `bc-${crypto.randomUUID()}`;
  await cursor(account, 'POST', '', { ...GO, agentId });
  for (const who of [account, newAccount()]) {
    const refused = await askCursor(who, 'POST', '', { body: { ...GO, agentId } });
    expect(refused.status).toBe(409);
    expect(await refused.json()).toMatchObject({ error: { code: 'agent_id_conflict' } });
  }
  expect((await cursor(account, 'GET', `/${agentId}/runs`)).items).toHaveLength(1);
});

it('makes one agent of a repeated request with an agentId, and of one during a restart', async () => {
  const account = newAccount();
  scriptModel(() => ({ text: 'Done.' }));
  const body = { ...GO, agentId: `bc-${crypto.randomUUID()}` };
  const { run } = await cursor(account, 'POST', '', body, 'a');
  expect((await cursor(account, 'POST', '', body, 'a')).run.id).toBe(run.id);
  const submit = Conversation.prototype.submit;
  vi.spyOn(Conversation.prototype, 'submit').mockImplementationOnce(async function (
    this: Conversation,
    ...args
  ) {
    const outcome = await submit.apply(this, args);
    const { ctx } = this as unknown as { ctx: DurableObjectState };
    await ctx.storage.sync();
    ctx.abort('reset');
    return outcome;
  });
  const again = { ...GO, agentId: `bc-${crypto.randomUUID()}` };
  expect(await cursor(account, 'POST', '', again)).toMatchObject({
    agent: { id: again.agentId },
  });
});

it('a run may name another model', async () => {
  const account = newAccount();
  const requests = scriptModel(() => ({ text: 'Done.' }));
  const { agent } = await cursor(account, 'POST', '', GO);
  await untilStatus(account, conversationOf(agent.id), 'completed');
  const body = { ...GO, model: { id: 'other', params: [] } };
  await cursor(account, 'POST', `/${agent.id}/runs`, body);
  await vi.waitFor(() => expect(requests.at(-1)?.model).toBe('other'));
});

it('the result of a run is the whole last message, with its code', async () => {
  const account = newAccount();
  const model = holdModel();
  const text = 'Look:\n\n```js\nlet a;\n```\n\nThat was it.';
  const { agent, run } = await cursor(account, 'POST', '', GO);
  const calls = [{ name: 'nothing', arguments: {} }];
  (await model.next()).answer({ text: 'First.', calls });
  (await model.next()).answer({ text });
  await untilStatus(account, conversationOf(agent.id), 'completed');
  const path = `/${agent.id}/runs/${run.id}`;
  expect(await cursor(account, 'GET', path)).toMatchObject({ result: text });
});

it('the account and the models have the shapes that Cursor’s SDK reads', async () => {
  const account = newAccount();
  expect(await (await callV1('me', { account })).json()).toMatchObject({ apiKeyName: account });
  const { data, items } = await (await callV1('models', { account })).json<{
    data: [];
    items: [];
  }>();
  expect(items).toEqual(data.map(({ id }) => ({ id, displayName: id })));
  expect(items.length).toBeGreaterThan(0);
});

it('reports the usage of an agent’s runs, and of one of them', async () => {
  const account = newAccount();
  scriptModel(() => ({ text: 'Done.' }));
  const { agent, run } = await cursor(account, 'POST', '', GO);
  await untilStatus(account, conversationOf(agent.id), 'completed');
  const path = `/${agent.id}/usage`;
  const one = { id: run.id, usage: SPENT };
  expect(await cursor(account, 'GET', path)).toEqual({ totalUsage: SPENT, runs: [one] });
  const model = holdModel();
  const more = await cursor(account, 'POST', `/${agent.id}/runs`, GO);
  await model.next();
  const none = Object.fromEntries(Object.keys(SPENT).map((name) => [name, 0]));
  const { totalUsage, runs } = await cursor(account, 'GET', path);
  expect(totalUsage).toEqual(SPENT);
  expect(runs).toEqual([{ id: more.run.id, usage: none }, one]);
  const asked = await cursor(account, 'GET', `${path}?runId=${more.run.id}`);
  expect(asked).toEqual({ totalUsage: none, runs: [runs[0]] });
  const missing = await cursor(account, 'GET', `${path}?runId=run-${crypto.randomUUID()}`);
  expect(missing.error.code).toBe('not_found');
  expect((await cursor(newAccount(), 'GET', path)).error.code).toBe('not_found');
});

it('takes the token as the user name of Basic authentication, but not from web pages', async () => {
  const account = newAccount();
  const token = await tokenFor({ account });
  const ask = async (credentials: string, path = '/v1/me', headers = {}) => {
    const authorization = `Basic ${credentials}`;
    const url = `https://drawbridge.test${path}`;
    return await SELF.fetch(url, { headers: { authorization, ...headers } });
  };
  const known = btoa(`${token}:`);
  expect(await (await ask(known)).json()).toMatchObject({ apiKeyName: account });
  const refused = [
    ...[ask(btoa('somebody:')), ask(btoa(`:${token}`)), ask('%'), ask(known, '/api/v1/me')],
    ask(known, '/v1/me', { 'sec-fetch-site': 'cross-site' }),
    ask(known, '/v1/me', { origin: 'http://page.test' }),
  ];
  const statuses = await Promise.all(refused.map(async (answer) => (await answer).status));
  expect(statuses).toEqual(refused.map(() => 401));
});

it.each([
  ['not_implemented', { repos: [{ url: 'https://github.com/a/b' }] }],
  ['invalid_request', { agentId: 'bc-00000000-0000-8000-8000-000000000000' }],
  ['invalid_request', { agentId: `${crypto.randomUUID()}` }],
  ['not_implemented', { autoCreatePR: true }],
  ['invalid_request', { env: { type: 'cloud' } }],
  ['invalid_request', { other: 1 }],
])('%s: %j', async (code, more) => {
  const body = { prompt: { text: 'Go' }, ...more };
  expect((await cursor(newAccount(), 'POST', '', body)).error.code).toBe(code);
});

/** What the scripted model says of one request. */
const SPENT = {
  inputTokens: 11,
  outputTokens: 7,
  cacheWriteTokens: 0,
  cacheReadTokens: 0,
  totalTokens: 18,
};
const GO = { prompt: { text: 'Go' } };

function conversationOf(agentId: string): string {
  return agentId.replace(/^bc-(?<stem>.*)....$/, 'conv_$<stem>0000');
}
