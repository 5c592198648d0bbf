import { abortAllDurableObjects, evictDurableObject, runDurableObjectAlarm } from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import { beforeEach, expect, it, vi } from 'vitest';
import { complete } from '../../../doors/test/openai/completing.ts';
import { dayOf, type UsageEntry, type UsageList } from '../../../shared/api/usage.ts';
import { newConversationId } from '../../../shared/ids.ts';
import { Account } from '../../../worker/account/object.ts';
import type { SpentSince } from '../../../worker/ports/account.ts';
import { call, chat, errorOf, scriptModel } from '../api.ts';
import { configure } from '../settings.ts';
import { connectBridge } from '../tunnel/scripted-bridge.ts';
import { askHeld, askStreamed, conversationObject, readResponse } from './conversing.ts';
import { endFrames, holdModel, textFrame } from './held-model.ts';
import { scriptTree, taskCall } from './subagents/tree.ts';

const PRICES = { input: 1_000, output: 10_000 };
/** 11 tokens at 0.001 and 7 at 0.01. */
const COST = { amount: 0.081, currency: 'USD' };

let account = '';

beforeEach(() => {
  account = `user-${crypto.randomUUID()}`;
  configure({ MODELS: [{ id: 'main', prices: PRICES }, { id: 'other' }] });
});
async function usage(query = ''): Promise<UsageEntry[]> {
  const { items } = (await (await call(`me/usage${query}`, { account })).json()) as UsageList;
  return items;
}

function accountStub() {
  return env.ACCOUNTS.get(env.ACCOUNTS.idFromName(account));
}

/** What so many answers of the scripted model count for. */
function entry(responses: number, requests = responses, model = 'main'): UsageEntry {
  return {
    day: new Date().toISOString().slice(0, 10),
    model,
    responses,
    promptTokens: 11 * requests,
    cachedPromptTokens: 0,
    cacheWriteTokens: 0,
    completionTokens: 7 * requests,
    reasoningTokens: 0,
    totalTokens: 18 * requests,
    unreportedRequests: 0,
    costs: model === 'main' ? [{ ...COST, amount: expect.closeTo(COST.amount * requests) }] : [],
  };
}

it('the usage of an account is empty at first', async () => {
  expect(await usage()).toEqual([]);
});

it('the usage of an account has each response with all of its turns, by model', async () => {
  const todos = { todos: [{ id: 'a', content: 'A', status: 'pending' }], merge: true };
  scriptModel((_, number) =>
    number === 0 ? { calls: [{ name: 'todo_write', arguments: todos }] } : { text: 'Done.' },
  );
  const { conversationId } = await chat('go', { account, model: 'main' });
  await chat('and', { account, conversationId, model: 'main' });
  await chat('else', { account, model: 'other' });
  await vi.waitFor(async () => expect(await usage()).toEqual([entry(2, 3), entry(1, 1, 'other')]));
});

it('the usage of an account has answers to OpenAI clients, whose conversations are not listed', async () => {
  scriptModel(() => ({ text: 'Done.' }));
  const body = { model: 'main' };
  await complete(body, { account });
  await complete(body, { account });
  await vi.waitFor(async () => expect(await usage()).toEqual([entry(2)]));
});

it('the usage of an account has what a cancelled answer cost only as a request without a count', async () => {
  const { model, reader, responseId } = await askHeld({ account, model: 'main' });
  (await model.next()).send(textFrame('half'));
  await reader.untilText('half');
  await call(`chat/completions/${responseId}/cancel`, { method: 'POST', account });
  await reader.toEnd();
  await vi.waitFor(async () =>
    expect(await usage()).toMatchObject([
      { responses: 1, totalTokens: 0, unreportedRequests: 1, costs: [] },
    ]),
  );
});

it('the usage of an account stays readable when a server reports counts that no answer can have', async () => {
  const model = holdModel();
  const huge = Number.MAX_SAFE_INTEGER;
  for (let times = 0; times < 2; times++) {
    const { reader } = await askStreamed({ account, model: 'main' });
    const counts = { prompt_tokens: huge, completion_tokens: 1, total_tokens: huge };
    (await model.next()).send(textFrame('hi'), ...endFrames('stop', counts));
    await reader.toEnd();
  }
  await vi.waitFor(async () =>
    expect(await usage()).toMatchObject([{ responses: 2, totalTokens: 2 }]),
  );
});

it('the usage of an account has subagents, each once and with its own model', async () => {
  scriptTree({
    go: [
      { calls: [taskCall('look', { type: 'generalPurpose', model: 'other' })] },
      { text: 'Done.' },
    ],
    look: [{ text: 'Seen.' }],
  });
  const { bridgeId } = await connectBridge({ account });
  const response = await chat('go', { account, bridgeId, model: 'main' });
  expect(response.usage).toMatchObject({ totalTokens: 3 * 18 });
  await vi.waitFor(async () => expect(await usage()).toEqual([entry(1, 2), entry(1, 1, 'other')]));
});

it('the usage of an account has the title of a conversation for the model that made it', async () => {
  const naming = { id: 'small', roles: ['fast'] };
  configure({ MODELS: [{ id: 'main', prices: PRICES }, naming] });
  scriptModel(({ model }) => ({ text: model === 'small' ? 'A title' : 'Done.' }));
  await chat('go', { account, model: 'main' });
  await vi.waitFor(async () => expect(await usage()).toEqual([entry(1), entry(0, 1, 'small')]));
});

it('the usage of an account keeps what was spent on a conversation that is deleted', async () => {
  scriptModel(() => ({ text: 'Done.' }));
  const { conversationId } = await chat('go', { account, model: 'main' });
  await vi.waitFor(async () => expect(await usage()).toEqual([entry(1)]));
  await call(`conversations/${conversationId}`, { method: 'DELETE', account });
  expect(await usage()).toEqual([entry(1)]);
});

it('the usage of an account does not count the responses of a copy again', async () => {
  scriptModel(() => ({ text: 'Done.' }));
  const { id, conversationId } = await chat('go', { account, model: 'main' });
  await vi.waitFor(async () => expect(await usage()).toEqual([entry(1)]));
  const forked = await call(`conversations/${conversationId}/forks`, {
    body: { responseId: id },
    account,
  });
  const copy = (await forked.json()) as { conversationId: string };
  await chat('again', { account, model: 'main', conversationId: copy.conversationId });
  await vi.waitFor(async () => expect(await usage()).toEqual([entry(2)]));
});

it('each response counts exactly once, also if its report was counted, and the answer to the report was lost', async () => {
  scriptModel(() => ({ text: 'Done.' }));
  const answered = vi.spyOn(Account.prototype, 'answered');
  const { conversationId } = await chat('go', { account, model: 'main' });
  await vi.waitFor(() => expect(answered).toHaveBeenCalled());
  const [sent] = answered.mock.calls[0] ?? [];
  expect(sent?.spent).toMatchObject({ after: 0, through: 1 });
  const stub = accountStub();
  await stub.count(conversationId, sent?.spent as SpentSince);
  if (sent) await stub.answered(sent);
  expect(await usage()).toEqual([entry(1)]);
});

it.each([
  ['listed', false],
  ['not listed', true],
])(
  'each response counts exactly once, also if its %s conversation dies before it has reported',
  async (_, isEphemeral) => {
    scriptModel(() => ({ text: 'Done.' }));
    const down = () => {
      throw new Error('the account is down');
    };
    const answered = vi.spyOn(Account.prototype, 'answered').mockImplementation(down);
    const counted = vi.spyOn(Account.prototype, 'count').mockImplementation(down);
    const conversationId = await answerOne(isEphemeral);
    const sent = isEphemeral ? counted : answered;
    await vi.waitFor(() => expect(sent).toHaveBeenCalled());
    answered.mockRestore();
    counted.mockRestore();
    await evictDurableObject(conversationObject(conversationId));
    expect(await usage()).toEqual([]);
    for (let alarms = 0; alarms < 2; alarms++) {
      await runDurableObjectAlarm(conversationObject(conversationId));
      await evictDurableObject(conversationObject(conversationId));
      expect(await usage()).toEqual([entry(1)]);
    }
  },
);

async function answerOne(isEphemeral: boolean): Promise<string> {
  if (!isEphemeral) return (await chat('go', { account, model: 'main' })).conversationId;
  const response = await complete({ model: 'main' }, { account });
  return response.headers.get('drawbridge-conversation-id') ?? '';
}

it('each response counts exactly once, also if the next one is reported together with it', async () => {
  scriptModel(() => ({ text: 'Done.' }));
  const answered = vi.spyOn(Account.prototype, 'answered').mockImplementation(() => {
    throw new Error('the account is down');
  });
  const { conversationId } = await chat('go', { account, model: 'main' });
  await vi.waitFor(() => expect(answered).toHaveBeenCalled());
  answered.mockRestore();
  await chat('and', { account, model: 'main', conversationId });
  await vi.waitFor(async () => expect(await usage()).toEqual([entry(2)]));
});

it('each response counts exactly once, also after a crash in the middle of it', async () => {
  const { model, reader, responseId } = await askHeld({ account, model: 'main' });
  (await model.next()).send(textFrame('half'));
  await reader.untilText('half');
  await abortAllDurableObjects();
  (await model.next()).answer({ text: 'Done.' });
  await reader.toEnd();
  await vi.waitFor(async () => expect(await usage()).toEqual([entry(1)]));
  expect(await readResponse(responseId).catch(() => null)).toBeDefined();
});

const DAYS = [3, 2, 1].map((ago) => dayOf(Date.now() - ago * 86_400_000));

async function spendOnDays(): Promise<string[]> {
  const entries = DAYS.toReversed().map((day) => ({ ...entry(1), costs: [COST], day }));
  await accountStub().count(newConversationId(crypto.randomUUID()), {
    after: 0,
    through: 3,
    entries,
  });
  return DAYS;
}

it('a list of usage has only the days that are asked for, the oldest first', async () => {
  const [first, second, third] = await spendOnDays();
  const daysOf = async (query: string) => (await usage(query)).map(({ day }) => day);
  expect(await daysOf('')).toEqual([first, second, third]);
  expect(await daysOf(`?from=${second}`)).toEqual([second, third]);
  expect(await daysOf(`?to=${second}`)).toEqual([first, second]);
  expect(await daysOf(`?from=${second}&to=${second}`)).toEqual([second]);
});

it('a list of usage comes in pages', async () => {
  const days = await spendOnDays();
  const found: string[] = [];
  let cursor: string | null = '';
  while (cursor !== null) {
    const query = new URLSearchParams({ limit: '2', ...(cursor && { cursor }) });
    const page = (await (await call(`me/usage?${query}`, { account })).json()) as UsageList;
    found.push(...page.items.map(({ day }) => day));
    cursor = page.nextCursor;
  }
  expect(found).toEqual(days);
});

it.each([
  ['from=yesterday', 'INVALID_REQUEST', /^from: /],
  ['from=2026-02-30', 'INVALID_REQUEST', /^from: /],
  ['from=2026-02-02&to=2026-02-01', 'INVALID_REQUEST', /is later than/],
  ['from=2024-01-01&to=2026-01-01', 'INVALID_REQUEST', /at most 366 days, and these are 732/],
  ['limit=0', 'INVALID_REQUEST', /^limit: /],
  ['cursor=nonsense', 'INVALID_CURSOR', /^cursor: /],
])('a list of usage refuses %s', async (query, code, message) => {
  const refused = await errorOf(await call(`me/usage?${query}`, { account }));
  expect(refused).toMatchObject({ status: 400, code, message: expect.stringMatching(message) });
});
