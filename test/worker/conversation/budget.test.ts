import { abortAllDurableObjects, runDurableObjectAlarm } from 'cloudflare:test';
import { expect, it } from 'vitest';
import type { ChatResponse } from '../../../shared/wire/documents.ts';
import type { ScriptedReply, ScriptedRequest } from '../../far-ends/reply-script.ts';
import { ask, call, chat, errorOf, scriptModel } from '../api.ts';
import { configure } from '../settings.ts';
import {
  alarmOf,
  askAtBridge,
  askHeld,
  askStreamed,
  conversationObject,
  expectUsable,
  readResponse,
  startAnswer,
} from './conversing.ts';
import { callFrame, endFrames, holdModel, readFile, textFrame } from './held-model.ts';
import { shiftClock } from './shifted-clock.ts';

/** The tokens of each scripted reply: 11 of the prompt and 7 of the answer. */
const TOKENS = 18;

/** A reply that calls a tool that the edge runs, so that the run goes on. */
function working(id: number): ScriptedReply {
  const todo = { id: `t${id}`, content: `Step ${id}`, status: 'pending' };
  return {
    text: `Step ${id}. `,
    calls: [{ name: 'todo_write', arguments: { todos: [todo], merge: true } }],
  };
}

function errorIn({ documents }: ChatResponse) {
  const { content, metadata } = documents.find(({ type }) => type === 'error') ?? {};
  return { code: metadata?.['errorCode'], content, details: metadata?.['details'] };
}

it('a budget that is spent of tokens ends the run before its next request, and keeps what was said', async () => {
  const requests = scriptModel((_, number) => working(number));
  const response = await chat('go', { budget: { maxTokens: 2 * TOKENS } });
  expect(requests).toHaveLength(2);
  expect(response.status).toBe('error');
  expect(response.documents.map(({ type }) => type)).toEqual([
    ...['text', 'todo_update', 'text', 'todo_update', 'error'],
  ]);
  expect(errorIn(response)).toEqual({
    code: 'BUDGET_EXCEEDED',
    content:
      'Stopped: the budget of this answer is spent (36 tokens). Nothing is lost: send “continue” with a larger budget, and the agent goes on from here.',
    details: expect.stringMatching(/^Spent: 36 tokens, \d+ seconds, 2 turns\.$/),
  });
  expect(response.metadata.budget).toEqual({
    limits: { maxTokens: 36 },
    spent: { tokens: 36, cost: null, seconds: expect.any(Number), turns: 2 },
    near: ['maxTokens'],
  });
});

it('a budget that is spent of turns counts the answers of the model', async () => {
  const requests = scriptModel((_, number) => working(number));
  const response = await chat('go', { budget: { maxTurns: 3 } });
  expect(requests).toHaveLength(3);
  expect(errorIn(response)).toMatchObject({ code: 'BUDGET_EXCEEDED' });
  expect(response.metadata.turnCount).toBe(3);
});

it('a budget that is spent leaves the conversation usable: the next message has a budget of its own', async () => {
  scriptModel(({ messages }, number) =>
    messages.at(-1)?.role === 'user' && number > 0 ? { text: 'Done.' } : working(number),
  );
  const { conversationId } = await chat('go', { budget: { maxTokens: 1 } });
  const next = await chat('go on', { conversationId, budget: { maxTokens: 100 } });
  expect(next).toMatchObject({ status: 'completed', documents: [{ content: 'Done.' }] });
});

it('a budget that is spent does not matter to an answer that is complete with it', async () => {
  scriptModel(() => ({ text: 'Done.' }));
  const response = await chat('go', { budget: { maxTokens: 1, maxTurns: 1 } });
  expect(response).toMatchObject({
    status: 'completed',
    metadata: { budget: { near: ['maxTokens', 'maxTurns'] } },
  });
});

it('a budget that is spent is counted on after a crash', async () => {
  const { model, reader, responseId } = await askHeld({ budget: { maxTurns: 2 } });
  (await model.next()).answer(working(0));
  (await model.next()).send(textFrame('half'));
  await reader.untilText('half');
  await abortAllDurableObjects();
  (await model.next()).answer(working(1));
  await reader.toEnd();
  const response = await readResponse(responseId);
  expect(errorIn(response)).toMatchObject({ code: 'BUDGET_EXCEEDED' });
  expect(response.metadata.budget?.spent).toMatchObject({ turns: 2, tokens: 2 * TOKENS });
});

it('a budget that is nearly spent is sent to the model once, behind everything else, and to the readers', async () => {
  const requests = scriptModel((_, number) => (number < 7 ? working(number) : { text: 'Done.' }));
  const { reader, responseId } = await askStreamed({ budget: { maxTokens: 6 * TOKENS + 40 } });
  const events = (await reader.toEnd()).map(({ event }) => event);
  const sent = events.filter(({ type }) => type === 'budget_near');
  expect(sent).toEqual([
    {
      type: 'budget_near',
      responseId,
      budget: {
        limits: { maxTokens: 148 },
        spent: { tokens: 126, cost: null, seconds: expect.any(Number), turns: 7 },
        near: ['maxTokens'],
      },
    },
  ]);
  const notes = requests.map(({ messages }) => messages.filter(isNote).length);
  expect(notes).toEqual([0, 0, 0, 0, 0, 0, 0, 1]);
  expect(requests.at(-1)?.messages.at(-1)).toEqual({
    role: 'user',
    content: expect.stringContaining('22 tokens of 148 tokens left'),
  });
});

it('a budget that is nearly spent leaves what the model saw before as it was, in this answer and in later ones', async () => {
  const requests = scriptModel((_, number) => (number < 4 ? working(number) : { text: 'Done.' }));
  const { conversationId } = await chat('go', { budget: { maxTurns: 5 } });
  await chat('and now', { conversationId });
  for (const [index, { messages }] of requests.entries()) {
    const next = requests[index + 1]?.messages.slice(0, messages.length);
    if (next) expect(next).toEqual(messages);
  }
  expect(requests.at(-1)?.messages.filter(isNote)).toHaveLength(1);
});

it('a budget that is nearly spent is sent again only for another limit, also after a crash', async () => {
  const model = holdModel();
  const budget = { maxTurns: 3, maxTokens: 100 };
  const { reader } = await askStreamed({ budget });
  for (let turn = 0; turn < 2; turn++) (await model.next()).answer(working(turn));
  (await model.next()).send(textFrame('half'));
  await reader.untilText('half');
  await abortAllDurableObjects();
  const again = await model.next();
  expect(again.request.messages.filter(isNote)).toHaveLength(1);
  again.answer({ text: 'Done.' });
  const events = await reader.toEnd();
  expect(events.filter(({ event }) => event.type === 'budget_near')).toHaveLength(1);
});

function isNote({ content }: ScriptedRequest['messages'][number]): boolean {
  return String(content).startsWith('<system_reminder>The budget');
}

const PRICES = { input: 1_000, output: 10_000 };
/** 11 tokens at 0.001 and 7 at 0.01. */
const COST = 0.081;

it.each<[string, unknown]>([
  ['in the currency of the model', 2 * COST],
  ['with its currency', { amount: 2 * COST, currency: 'USD' }],
])('a budget of cost is kept: %s', async (_, maxCost) => {
  configure({ MODELS: [{ id: 'main', prices: PRICES }] });
  const requests = scriptModel((_, number) => working(number));
  const response = await chat('go', { model: 'main', budget: { maxCost } });
  expect(requests).toHaveLength(2);
  expect(errorIn(response)).toMatchObject({
    code: 'BUDGET_EXCEEDED',
    details: expect.stringContaining('0.162 USD'),
  });
  expect(response.metadata.budget?.limits).toEqual({
    maxCost: { amount: 2 * COST, currency: 'USD' },
  });
});

const priced = { id: 'main', prices: PRICES };

it.each<[string, unknown, unknown[] | undefined, string]>([
  ['of a model without prices', 1, [{ id: 'main' }], 'the prices of the model main are unknown'],
  [
    'in another currency',
    { amount: 1, currency: 'EUR' },
    [priced],
    'the prices of the model main are in USD',
  ],
  [
    'whose fallback has no prices',
    1,
    [{ ...priced, fallbacks: ['other'] }, { id: 'other' }],
    'the prices of the model other are unknown',
  ],
  [
    'whose subagents can fall back on a model without prices',
    1,
    [
      priced,
      { id: 'quick', roles: ['fast'], prices: PRICES, fallbacks: ['other'] },
      { id: 'other' },
    ],
    'the prices of the model other are unknown',
  ],
  [
    'whose summaries are paid in another currency',
    1,
    [priced, { id: 'short', roles: ['summary'], prices: { ...PRICES, currency: 'EUR' } }],
    'the prices of the model short are in EUR',
  ],
])('a budget of cost is refused: %s', async (_, maxCost, table, message) => {
  if (table) configure({ MODELS: table });
  const refused = await errorOf(await ask('go', { model: 'main', budget: { maxCost } }));
  expect(refused).toMatchObject({ status: 400, code: 'COST_UNKNOWN' });
  expect(refused.message).toContain(message);
});

it('a budget of cost ends the run if the prices are gone in the middle of it', async () => {
  configure({ MODELS: [priced] });
  scriptModel((_, number) => {
    configure({ MODELS: [{ id: 'main' }] });
    return working(number);
  });
  const response = await chat('go', { model: 'main', budget: { maxCost: 100 } });
  expect(errorIn(response)).toMatchObject({ code: 'COST_UNKNOWN' });
});

it('a budget of time ends an answer in the middle of it, and keeps its text', async () => {
  const clock = shiftClock();
  const { model, reader, responseId, conversationId, reply } = await startAnswer({
    budget: { maxSeconds: 30 },
  });
  reply.send(textFrame('So far'));
  await reader.untilText('So far');
  clock.aheadMs = 31_000;
  await runDurableObjectAlarm(conversationObject(conversationId));
  await reader.toEnd();
  await reply.untilAborted();
  const response = await readResponse(responseId);
  expect(response).toMatchObject({ status: 'error', documents: [{ content: 'So far' }, {}] });
  expect(errorIn(response)).toMatchObject({ code: 'BUDGET_EXCEEDED' });
  const next = await askStreamed({ conversationId });
  const sent = await model.next();
  expect(sent.request.messages.at(-2)).toEqual({
    role: 'assistant',
    content: expect.stringMatching(/^So far\n\n\[This answer was cut off here/),
  });
  sent.answer({ text: 'Done.' });
  await next.reader.toEnd();
});

it('a budget of time ends the wait for a call, and cancels it at its bridge', async () => {
  const clock = shiftClock();
  const { model, bridge, reader, responseId, conversationId } = await askAtBridge({
    budget: { maxSeconds: 300 },
  });
  (await model.next()).answer({ calls: [readFile('a')] });
  const { callId } = await bridge.nextCall();
  clock.aheadMs = 301_000;
  await runDurableObjectAlarm(conversationObject(conversationId));
  expect((await bridge.next('cancel')).callId).toBe(callId);
  await reader.toEnd();
  expect(errorIn(await readResponse(responseId))).toMatchObject({ code: 'BUDGET_EXCEEDED' });
});

it('a budget of time sets the alarm to its end where the run waits for nothing that is sooner', async () => {
  const { model, bridge, reader, conversationId } = await askAtBridge({
    budget: { maxSeconds: 40 },
  });
  (await model.next()).answer({ calls: [readFile('a')] });
  await bridge.nextCall();
  await reader.untilType('response_start');
  const [start] = reader.events.flatMap(({ event }) =>
    event.type === 'response_start' ? [event.response.created] : [],
  );
  const alarm = await alarmOf(conversationId);
  expect(alarm).toBe(Date.parse(start ?? '') + 40_000);
  await reader.leave();
});

it('a budget of time does not keep the alarm from coming soon to a run that no one looks after', async () => {
  const { reader, conversationId, reply } = await startAnswer({
    budget: { maxSeconds: 100_000 },
  });
  const alarm = await alarmOf(conversationId);
  expect(alarm).toBeLessThan(Date.now() + 100_000);
  reply.answer({ text: 'Done.' });
  await reader.toEnd();
});

it('is counted by an estimate, which says so, where the model server reports no tokens', async () => {
  const { model, reader, responseId } = await askHeld({ budget: { maxTokens: 100 } });
  const { calls = [] } = working(0);
  const unreported = JSON.stringify(calls[0]?.arguments);
  const reply = await model.next();
  reply.send(callFrame(0, 'a', 'todo_write', unreported), ...endFrames('tool_calls'));
  reply.close();
  await reader.toEnd();
  const response = await readResponse(responseId);
  expect(errorIn(response)).toMatchObject({
    code: 'BUDGET_EXCEEDED',
    details: expect.stringContaining('did not report all tokens'),
  });
  expect(response.usage).toBeNull();
  const { spent } = response.metadata.budget ?? {};
  expect(spent).toMatchObject({ turns: 1, isEstimate: true });
  expect(spent?.tokens).toBeGreaterThan(1_000);
});

it.each<[object, string]>([
  [{ maxTokens: 0 }, 'budget.maxTokens'],
  [{ maxCost: 0 }, 'budget.maxCost'],
  [{ maxCost: { amount: 0, currency: 'USD' } }, 'budget.maxCost'],
  [{ maxSeconds: 0 }, 'budget.maxSeconds'],
  [{ maxTurns: 0 }, 'budget.maxTurns'],
  [{ maxTurns: 1_001 }, 'budget.maxTurns'],
  [{}, 'budget: '],
])(
  '%j is refused with the path of its field, and the conversation goes on',
  async (budget, path) => {
    scriptModel(() => ({ text: 'Done.' }));
    const { conversationId } = await chat('go');
    const agent = await call('agents', { body: { prompt: 'go', budget } });
    for (const response of [await ask('more', { conversationId, budget }), agent]) {
      const refused = await errorOf(response);
      expect(refused).toMatchObject({ status: 400, code: 'INVALID_REQUEST' });
      expect(refused.message).toMatch(new RegExp(`^${path}`));
    }
    await expectUsable(conversationId);
  },
);

it('cannot be changed by a message that steers', async () => {
  const { reader, conversationId, reply } = await startAnswer();
  const steer = { conversationId, delivery: 'steer', budget: { maxTurns: 1 } };
  expect(await errorOf(await ask('and', steer))).toMatchObject({
    code: 'INVALID_REQUEST',
    message: expect.stringMatching(/^budget: /),
  });
  reply.answer({ text: 'Done.' });
  await reader.toEnd();
});
