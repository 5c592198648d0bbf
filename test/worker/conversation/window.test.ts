import { abortAllDurableObjects } from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import type { StreamEvent } from '../../../shared/wire/events.ts';
import { Deadlines } from '../../../worker/conversation/deadlines.ts';
import type { ScriptedRequest } from '../../far-ends/reply-script.ts';
import { streamOf } from '../../far-ends/reply-script.ts';
import { call, chat, type ModelAnswer, scriptModel } from '../api.ts';
import { configure } from '../settings.ts';
import {
  askAtBridge,
  askStreamed,
  cancel,
  readResponse,
  readView,
  type Streamed,
} from './conversing.ts';
import { endFrames, type HeldModel, holdModel, readFile, textFrame } from './held-model.ts';

/** What a model of 10,000 tokens holds of the texts below is some five answers. */
const TABLE = [{ id: 'small', contextWindow: 10_000, prices: { input: 1, output: 1 } }];
const LONG = 'word '.repeat(1_000).trimEnd();
const FACT = 'the port is 4711';

beforeEach(() => {
  configure({ MODELS: TABLE });
});
it('a conversation that outgrows its model is summarised by the model, and goes on with what the user said word for word', async () => {
  const requests = scriptModel(answering({ summary: `Goal: ${FACT}.` }));
  const { conversationId } = await converse(9);
  const sent = requests.filter((request) => !asksForSummary(request));
  expect(requests.length).toBeGreaterThan(sent.length);
  expect(Math.max(...sent.map(sizeOf))).toBeLessThan(60_000);
  const last = JSON.stringify(sent.at(-1)?.messages);
  expect(last).toContain(`Goal: ${FACT}.`);
  for (let turn = 1; turn <= 9; turn++) expect(last).toContain(`question ${turn}!`);
  const view = await readView(conversationId);
  expect(view.responses.map(({ documents }) => documents[0]?.content?.length)).toEqual(
    Array(9).fill(LONG.length),
  );
});

it('a conversation that outgrows its model says so while it happens, and counts what it took', async () => {
  scriptModel(answering({ summary: 'All of it.', usage: 500 }));
  const { conversationId, count } = await converseUntilSummary();
  const { responses } = await readView(conversationId);
  const [first, last] = [responses[0], responses[count - 1]];
  expect(last?.usage?.totalTokens).toBe((first?.usage?.totalTokens ?? 0) + 500);
  expect(last?.metadata.turnCount).toBe(1);
});

it('a conversation that outgrows its model is summarised by the model for summaries, at its own price', async () => {
  const digester = { id: 'digester', roles: ['summary'], prices: { input: 1_000, output: 0 } };
  configure({ MODELS: [...TABLE, digester] });
  const requests = scriptModel(answering({ summary: FACT, usage: 500 }));
  const { conversationId, count } = await converseUntilSummary();
  const models = requests.map((request) => [asksForSummary(request), request.model]);
  expect(models.filter(([asks]) => asks)).toEqual([[true, 'digester']]);
  expect(new Set(models.filter(([asks]) => !asks).map(([, model]) => model))).toEqual(
    new Set(['small']),
  );
  const { responses } = await readView(conversationId);
  const [first, last] = [responses[0]?.usage, responses[count - 1]?.usage];
  expect(last?.totalTokens).toBe((first?.totalTokens ?? 0) + 500);
  expect(last?.cost?.amount).toBeCloseTo((first?.cost?.amount ?? 0) + 0.5, 6);
});

it('a conversation that outgrows its model is summarised by its own model where the one for summaries fails', async () => {
  configure({ MODELS: [...TABLE, { id: 'digester', roles: ['summary'] }] });
  const answer = answering({ summary: FACT, usage: 500 });
  const requests = scriptModel((request) =>
    request.model === 'digester' ? answering({ summary: null })(request) : answer(request),
  );
  const { events, conversationId, count } = await converseUntilSummary();
  expect(summaryEvents(events)).toEqual(['running', 'completed']);
  const asked = requests.filter(asksForSummary).map(({ model }) => model);
  expect(asked).toEqual(['digester', 'small']);
  const { responses } = await readView(conversationId);
  expect(responses[count - 1]?.usage).toMatchObject({
    totalTokens: (responses[0]?.usage?.totalTokens ?? 0) + 500,
    unreportedRequests: 1,
  });
});

it('a conversation that outgrows its model says that no one counted what it took', async () => {
  scriptModel(answering({ summary: 'All of it.', usage: null }));
  const { conversationId, count } = await converseUntilSummary();
  const { responses } = await readView(conversationId);
  expect(responses[0]?.usage).not.toHaveProperty('unreportedRequests');
  expect(responses[count - 1]?.usage).toEqual({ ...responses[0]?.usage, unreportedRequests: 1 });
});

it('a conversation that outgrows its model goes on where the model gives no summary', async () => {
  const requests = scriptModel(answering({ summary: null }));
  const { events } = await converseUntilSummary();
  expect(summaryEvents(events)).toEqual(['running', 'failed']);
  expect(events.at(-1)).toMatchObject({ type: 'done', status: 'completed' });
  expect(JSON.stringify(requests.at(-1)?.messages)).toContain('No summary could be made');
});

it('a conversation that outgrows its model waits a passing failure of the summary out', async () => {
  let refused = 0;
  const answer = answering({ summary: FACT });
  const requests = scriptModel((request) => {
    if (!asksForSummary(request) || refused++ > 0) return answer(request);
    return new Response('busy', { status: 503 });
  });
  const { events } = await converseUntilSummary();
  expect(summaryEvents(events)).toEqual(['running', 'completed']);
  expect(JSON.stringify(requests.at(-1)?.messages)).toContain(FACT);
});

it('a conversation that outgrows its model loses nothing to a crash in the middle of the summary', async () => {
  const { model, conversationId, replied } = await overfill();
  const summary = await model.next();
  expect(asksForSummary(summary.request)).toBe(true);
  await replied.reader.untilType('context_summary');
  await abortAllDurableObjects();
  const again = await model.next();
  expect(asksForSummary(again.request)).toBe(true);
  again.answer({ text: 'The summary.' });
  (await model.next()).answer({ text: 'The end.' });
  const events = (await replied.reader.toEnd()).map(({ event }) => event);
  expect(summaryEvents(events)).toEqual(['running', 'running', 'completed']);
  const view = await readView(conversationId);
  expect(view.responses.at(-1)).toMatchObject({
    status: 'completed',
    documents: [{ content: 'The end.' }],
  });
});

it('a conversation that outgrows its model hears once what a person says in the middle of the summary', async () => {
  const { model, conversationId, replied } = await overfill();
  const summary = await model.next();
  const body = { messages: [{ role: 'user', content: 'in French' }], delivery: 'steer' };
  const steered = call('chat/completions', { body: { ...body, conversationId, stream: true } });
  await replied.reader.untilType('message');
  await (await steered).body?.cancel();
  summary.answer({ text: 'The summary.' });
  const reply = await model.next();
  expect(JSON.stringify(reply.request.messages).split('in French')).toHaveLength(2);
  reply.answer({ text: 'Bien.' });
  const events = (await replied.reader.toEnd()).map(({ event }) => event.type);
  expect(events.filter((type) => type === 'steered')).toHaveLength(1);
  expect(model.count).toBe(2);
});

it('a conversation that outgrows its model can be cancelled in the middle of the summary, and summarises the next time', async () => {
  const { model, conversationId, replied } = await overfill();
  const summary = await model.next();
  await cancel(replied.responseId);
  await summary.untilAborted();
  await replied.reader.toEnd();
  expect(await readResponse(replied.responseId)).toMatchObject({ status: 'cancelled' });
  const next = await askStreamed({ conversationId, model: 'small' });
  const again = await model.next();
  expect(asksForSummary(again.request)).toBe(true);
  again.answer({ text: 'The summary.' });
  (await model.next()).answer({ text: 'The end.' });
  await next.reader.toEnd();
});

it('a conversation that outgrows its model is copied with its summary', async () => {
  const requests = scriptModel(answering({ summary: FACT }));
  const { conversationId, count } = await converseUntilSummary();
  const { responses } = await readView(conversationId);
  const body = { responseId: responses[count - 1]?.id };
  const forked = await call(`conversations/${conversationId}/forks`, { body });
  const { conversationId: copy }: { conversationId: string } = await forked.json();
  const before = requests.length;
  await chat('and now?', { conversationId: copy, model: 'small' });
  expect(requests).toHaveLength(before + 1);
  expect(JSON.stringify(requests.at(-1)?.messages)).toContain(FACT);
});

it('leaves out what old calls came to before it summarises anything', async () => {
  // Has room for the system prompt, the tools and some three of the results.
  configure({ MODELS: [{ id: 'small', contextWindow: 13_000 }] });
  const { model, bridge, reader, responseId } = await askAtBridge({ model: 'small' });
  let last: ScriptedRequest | undefined;
  for (let turn = 1; turn <= 12; turn++) {
    const reply = await model.next();
    last = reply.request;
    expect(asksForSummary(last)).toBe(false);
    expect(sizeOf(last)).toBeLessThan(60_000);
    reply.answer({ calls: [readFile(`file-${turn}`)] });
    bridge.succeed((await bridge.nextCall()).callId, `${turn}: ${LONG}`);
    await bridge.next('ack');
  }
  (await model.next()).answer({ text: 'Read.' });
  await reader.toEnd();
  const results = last?.messages
    .filter(({ role }) => role === 'tool')
    .map(({ content }) => content);
  expect(results?.[0]).not.toContain(LONG);
  expect(results?.at(-1)).toContain(LONG);
  const { documents } = await readResponse(responseId);
  expect(JSON.stringify(documents[0])).toContain(LONG);
});

describe('a model whose room no one knows', () => {
  beforeEach(() => {
    configure({ MODELS: undefined });
  });

  it.each([
    ['refuses what it was sent', overflow],
    ['has no room left to answer', () => streamOf(endFrames('model_context_window_exceeded'))],
  ])('is sent less when it %s', async (_, overfull) => {
    const requests = scriptModel((request): ModelAnswer => {
      if (asksForSummary(request)) return { text: 'The gist.' };
      return sizeOf(request) > 30_000 ? overfull() : { text: LONG };
    });
    const { conversationId } = await converse(9);
    const view = await readView(conversationId);
    expect(view.responses.map(({ status }) => status)).toEqual(Array(9).fill('completed'));
    const refused = requests.filter((request) => sizeOf(request) > 30_000);
    expect(refused.length).toBeGreaterThan(0);
    expect(refused.length).toBeLessThan(4); // It is remembered.
  });

  it('is asked in full by the next run where the one that it refused was cancelled', async () => {
    const model = holdModel();
    const refused = await askStreamed();
    const reply = await model.next();
    // The cancel comes between the refusal and what would be asked then.
    const { arm } = Deadlines.prototype;
    let isCancelled = false;
    vi.spyOn(Deadlines.prototype, 'arm').mockImplementation(async function (this: Deadlines) {
      while (!isCancelled) await scheduler.wait(1);
      await Reflect.apply(arm, this, []);
    });
    reply.send('data: {"error":{"message":"x","code":"context_length_exceeded"}}\n\n');
    reply.close();
    await vi.waitFor(() => expect(Deadlines.prototype.arm).toHaveBeenCalled());
    await cancel(refused.responseId);
    isCancelled = true;
    await refused.reader.toEnd();
    const next = await askStreamed({ conversationId: refused.conversationId });
    (await model.next()).answer({ text: 'Hello.' });
    await next.reader.toEnd();
    expect(await readResponse(next.responseId)).toMatchObject({ status: 'completed' });
  });

  it('is sent less once for what it refused, and not again in the turn after', async () => {
    const summaries: string[] = [];
    scriptModel((request): ModelAnswer => {
      if (asksForSummary(request)) return { text: 'The gist.' };
      if (sizeOf(request) > 30_000) return overflow();
      if (request.messages.at(-1)?.role !== 'user') return { text: LONG };
      return { calls: [{ name: 'no_such_tool', arguments: {} }] };
    });
    let conversationId: string | undefined;
    while (summaries.length === 0) {
      const streamed = await askStreamed({ conversationId });
      ({ conversationId } = streamed);
      const events = (await streamed.reader.toEnd()).map(({ event }) => event);
      expect(events.at(-1)).toMatchObject({ status: 'completed' });
      summaries.push(...summaryEvents(events));
    }
    expect(summaries).toEqual(['running', 'completed']);
  });

  it('ends the run where nothing can be left out', async () => {
    const requests = scriptModel(() => overflow());
    expect(await chat('hello')).toMatchObject({
      status: 'error',
      documents: [{ type: 'error', metadata: { errorCode: 'CONTEXT_LENGTH_EXCEEDED' } }],
    });
    expect(requests.length).toBeLessThan(4);
  });
});

it('a server that leaves a part of its prompt out without a word is found out by its own count, once an answer, and the run goes on', async () => {
  scriptModel(counting(2_050));
  const response = await chat('x '.repeat(15_000));
  expect(response.status).toBe('completed');
  const errors = response.documents.filter(({ type }) => type === 'error');
  expect(errors).toMatchObject([
    {
      content: expect.stringMatching(/read only 2050 of about \d{4,5} tokens .* set contextWindow/),
      metadata: { errorCode: 'CONTEXT_LENGTH_EXCEEDED', source: 'upstream' },
    },
    { metadata: { errorCode: 'UNKNOWN_TOOL' } },
  ]);
});

it.each([
  ['that counts what it may have read', 4_000],
  ['that does not really count', 11],
])(
  'a server that leaves a part of its prompt out without a word is not taken for one %s',
  async (_, promptTokens) => {
    scriptModel(counting(promptTokens));
    const { documents } = await chat('x '.repeat(15_000));
    expect(documents.filter(({ metadata }) => metadata['source'] === 'upstream')).toEqual([]);
  },
);

/** A call and then an answer; the server's count of each prompt is given. */
function counting(promptTokens: number) {
  return (_: ScriptedRequest, turn: number): ModelAnswer => ({
    ...(turn === 0 ? { calls: [{ name: 'no_such_tool', arguments: {} }] } : { text: 'Done.' }),
    promptTokens,
  });
}

function overflow(): Response {
  const error = { message: 'too long', code: 'context_length_exceeded' };
  return Response.json({ error }, { status: 400 });
}

/** Long answers; null fails when it is asked for a summary. */
function answering(work: { summary: string | null; usage?: number | null }) {
  return (request: ScriptedRequest): ModelAnswer => {
    if (!asksForSummary(request)) return { text: LONG };
    if (work.summary === null) return Response.json({ error: { message: 'no' } }, { status: 400 });
    const { usage = 18 } = work;
    if (usage === null) return streamOf([textFrame(work.summary), ...endFrames('stop')]);
    const counted = { prompt_tokens: usage, completion_tokens: 0, total_tokens: usage };
    return streamOf([textFrame(work.summary), ...endFrames('stop', counted)]);
  };
}

function asksForSummary({ messages }: ScriptedRequest): boolean {
  return String(messages[0]?.content).includes('You write a summary');
}

function sizeOf({ messages }: ScriptedRequest): number {
  return JSON.stringify(messages).length;
}

/** So many exchanges, in one conversation. */
async function converse(count: number): Promise<{ conversationId: string }> {
  let conversationId: string | undefined;
  for (let turn = 1; turn <= count; turn++) {
    const model = env.MODELS ? 'small' : undefined;
    const response = await chat(`question ${turn}!`, { model, conversationId });
    expect(response.status).toBe('completed');
    ({ conversationId } = response);
  }
  return { conversationId: conversationId ?? '' };
}

/** Exchanges until one is summarised, with the events of that one. */
async function converseUntilSummary(): Promise<{
  conversationId: string;
  count: number;
  events: StreamEvent[];
}> {
  let conversationId: string | undefined;
  for (let count = 1; count < 30; count++) {
    const streamed = await askStreamed({ model: 'small', conversationId });
    ({ conversationId } = streamed);
    const events = (await streamed.reader.toEnd()).map(({ event }) => event);
    if (summaryEvents(events).length > 0) return { conversationId, count, events };
  }
  throw new Error('nothing was ever summarised');
}

/** A conversation with one more message than fits; what the model is asked from then on is the test's to answer. */
async function overfill(): Promise<{
  model: HeldModel;
  conversationId: string;
  replied: Streamed;
}> {
  scriptModel(answering({ summary: 'x' }));
  const { count } = await converseUntilSummary();
  const { conversationId } = await converse(count - 1);
  const model = holdModel();
  return { model, conversationId, replied: await askStreamed({ conversationId, model: 'small' }) };
}

function summaryEvents(events: readonly StreamEvent[]): string[] {
  return events.flatMap((event) => (event.type === 'context_summary' ? [event.status] : []));
}
