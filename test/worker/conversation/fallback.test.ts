import { abortAllDurableObjects } from 'cloudflare:test';
import { beforeEach, expect, it, vi } from 'vitest';
import { UPSTREAM_LIMITS } from '../../../packages/model/limits.ts';
import { type AnthropicBlock, anthropicFrames } from '../../far-ends/native-events.ts';
import { type ScriptedRequest, streamOf } from '../../far-ends/reply-script.ts';
import { ask, chat, errorOf, type ModelAnswer, scriptModel } from '../api.ts';
import { configure } from '../settings.ts';
import { askStreamed, readResponse, startAnswer } from './conversing.ts';
import { callFrame, endFrames, textFrame } from './held-model.ts';

const PRICES = { input: 1, output: 10 };

const TABLE = [
  { id: 'main', contextWindow: 1_000, prices: PRICES, fallbacks: ['small', 'large'] },
  { id: 'small', contextWindow: 500, prices: { input: 0.1, output: 1 } },
  { id: 'large', upstreamId: 'vendor/large', contextWindow: 9_000 },
];

beforeEach(() => {
  configure({ MODELS: TABLE });
});
const USAGE = { prompt_tokens: 1_000, completion_tokens: 100, total_tokens: 1_100 };

function refusal(status: number, error: object): Response {
  return Response.json({ error }, { status });
}

/** A model server on which these models fail, and the others answer. */
function serverWithout(failing: Record<string, () => Response>): ScriptedRequest[] {
  return scriptModel(({ model }): ModelAnswer => failing[model]?.() ?? { text: `I am ${model}.` });
}

it('of another dialect goes on with a tool loop, without what the first model thought', async () => {
  const urls = { claude: 'http://claude.test/v1/messages', gpt: 'http://gpt.test/v1/responses' };
  configure({
    MODELS: [
      {
        id: 'claude',
        dialect: 'anthropic',
        baseUrl: 'http://claude.test/v1',
        fallbacks: ['gpt', 'main'],
      },
      { id: 'gpt', dialect: 'responses', baseUrl: 'http://gpt.test/v1' },
      { id: 'main' },
    ],
  });
  const thinking: AnthropicBlock = { type: 'thinking', thinking: 'Hm.', signature: 'sig' };
  const call = { type: 'tool_use', id: 'toolu.1', name: 'no_such_tool', input: {} } as const;
  const answers = [
    () => streamOf(anthropicFrames([thinking, call], 'tool_use')),
    () => Response.json({ error: { type: 'overloaded_error', message: 'full' } }, { status: 529 }),
    () => refusal(404, { message: 'gone' }),
    () => streamOf([textFrame('Done.'), ...endFrames('stop')]),
  ];
  const requests: [string, string][] = [];
  vi.spyOn(globalThis, 'fetch').mockImplementation(async (url, init) => {
    requests.push([String(url), String(init?.body)]);
    return answers[requests.length - 1]?.() ?? new Response(null, { status: 500 });
  });
  const response = await chat('hello', { model: 'claude' });
  expect(response).toMatchObject({ status: 'completed', model: 'main' });
  const asked = [urls.claude, urls.claude, urls.gpt, 'http://model.test/v1/chat/completions'];
  expect(requests.map(([url]) => url)).toEqual(asked);
  expect(requests.map(([, body]) => body.includes('"sig"'))).toEqual([false, true, false, false]);
  // Responses takes no point in an id.
  expect(requests.map(([, body]) => body.includes('toolu'))).toEqual([false, true, false, true]);
});

it('a model that cannot answer is replaced at once by its fallback, and the response says by whom', async () => {
  const requests = serverWithout({ main: () => refusal(503, { message: 'full' }) });
  const response = await chat('hello', { model: 'main' });
  expect(requests.map(({ model }) => model)).toEqual(['main', 'small']);
  expect(response).toMatchObject({
    status: 'completed',
    model: 'small',
    documents: [{ id: 'doc_001', content: 'I am small.' }],
  });
  expect(await readResponse(response.id)).toMatchObject({ model: 'small' });
});

it('a model that cannot answer is known to a reader of the stream before anything is shown', async () => {
  serverWithout({ main: () => refusal(402, { message: 'pay' }) });
  const { reader } = await askStreamed({ model: 'main' });
  const events = (await reader.toEnd()).map(({ event }) => event);
  const place = events.findIndex(({ type }) => type === 'response_model');
  expect(events[place]).toEqual({ type: 'response_model', model: 'small' });
  expect(events.findIndex(({ type }) => type === 'document_start')).toBeGreaterThan(place);
});

it('a model that refuses a context that is too long is replaced only by one with a larger window', async () => {
  const requests = serverWithout({
    main: () => refusal(400, { code: 'context_length_exceeded', message: 'too long' }),
  });
  expect(await chat('hello', { model: 'main' })).toMatchObject({ model: 'large' });
  expect(requests.map(({ model }) => model)).toEqual(['main', 'vendor/large']);
});

it.each([
  ['a request that any model refuses', 'main', 400, 1, 'UPSTREAM_ERROR'],
  ['the last of its fallbacks', 'main', 402, 3, 'UPSTREAM_ERROR'],
  ['a model without fallbacks', 'large', 404, 1, 'UPSTREAM_ERROR'],
])(
  'a model that cannot answer fails the run after %s',
  async (_, model, status, count, errorCode) => {
    const requests = scriptModel(() => refusal(status, { message: 'no' }));
    const response = await chat('hello', { model });
    expect(requests).toHaveLength(count);
    expect(response).toMatchObject({
      status: 'error',
      documents: [{ type: 'error', metadata: { errorCode } }],
    });
  },
);

it('a model that cannot answer leaves all attempts to the one that replaces it', async () => {
  const { maxAttempts } = UPSTREAM_LIMITS;
  const busy = () =>
    Response.json(
      { error: { message: 'busy' } },
      { status: 500, headers: { 'retry-after-ms': '0' } },
    );
  const requests = scriptModel((_, number) => (number <= maxAttempts ? busy() : { text: 'Hi.' }));
  expect(await chat('hello', { model: 'main' })).toMatchObject({ model: 'small' });
  const asked = [...Array(maxAttempts).fill('main'), 'small', 'small'];
  expect(requests.map(({ model }) => model)).toEqual(asked);
});

it('a model that cannot answer is not replaced once something was shown', async () => {
  const { model, reader, responseId, reply } = await startAnswer({ model: 'main' });
  reply.send(textFrame('Some words'));
  await reader.untilText('Some words');
  reply.send('data: {"error":{"type":"overloaded_error","message":"full"}}\n\n');
  reply.close();
  await reader.toEnd();
  expect(model.count).toBe(1);
  expect(await readResponse(responseId)).toMatchObject({ status: 'error', model: 'main' });
});

it('goes on with the fallback after a crash, and to the end of the run', async () => {
  const { model, reader, responseId, reply: first } = await startAnswer({ model: 'main' });
  first.send('data: {"error":{"type":"overloaded_error","message":"full"}}\n\n');
  first.close();
  expect((await model.next()).request.model).toBe('small');
  await reader.untilType('response_model');
  await abortAllDurableObjects();
  const again = await model.next();
  expect(again.request.model).toBe('small');
  again.send(callFrame(0, 'c1', 'todo_write', '{"merge":false,"todos":[]}'), ...endFrames('stop'));
  again.close();
  const next = await model.next();
  expect(next.request.model).toBe('small');
  next.answer({ text: 'Done.' });
  await reader.toEnd();
  expect(await readResponse(responseId)).toMatchObject({ status: 'completed', model: 'small' });
});

it('a response costs what the models that answered cost, and each turn has the price of its own', async () => {
  const { model, reader, responseId, reply: first } = await startAnswer({ model: 'main' });
  first.send(callFrame(0, 'c1', 'todo_write', '{"merge":false,"todos":[]}'));
  first.send(...endFrames('tool_calls', USAGE));
  first.close();
  const second = await model.next();
  second.send('data: {"error":{"type":"overloaded_error","message":"full"}}\n\n');
  second.close();
  const third = await model.next();
  third.send(textFrame('Done.'), ...endFrames('stop', USAGE));
  third.close();
  await reader.toEnd();
  const { usage } = await readResponse(responseId);
  expect(usage).toEqual({
    promptTokens: 2_000,
    completionTokens: 200,
    totalTokens: 2_200,
    cost: { amount: 0.002 + 0.0002, currency: 'USD' },
  });
});

it('a response costs what the models that answered cost, and says which requests no one counted', async () => {
  const { model, reader, responseId, reply: first } = await startAnswer({ model: 'main' });
  first.send(callFrame(0, 'c1', 'todo_write', '{"merge":false,"todos":[]}'));
  first.send(...endFrames('tool_calls'));
  first.close();
  const second = await model.next();
  second.send(textFrame('Done.'), ...endFrames('stop', USAGE));
  second.close();
  await reader.toEnd();
  const { usage } = await readResponse(responseId);
  expect(usage).toEqual({
    promptTokens: 1_000,
    completionTokens: 100,
    totalTokens: 1_100,
    cost: { amount: 0.002, currency: 'USD' },
    unreportedRequests: 1,
  });
});

it('a response costs what the models that answered cost, and nothing is said where a price is not known', async () => {
  const { reader, responseId, reply } = await startAnswer({ model: 'large' });
  reply.send(textFrame('Done.'), ...endFrames('stop', USAGE));
  reply.close();
  await reader.toEnd();
  expect((await readResponse(responseId)).usage).not.toHaveProperty('cost');
});

it('a table that is wrong is an error of the request, which names the field', async () => {
  configure({ MODELS: '[{"id": 7}]' });
  expect(await errorOf(await ask('hello'))).toMatchObject({
    status: 500,
    code: 'NOT_CONFIGURED',
    message: expect.stringContaining('MODELS[0].id: '),
  });
});

it('a table that becomes wrong while a run waits is an error of the run', async () => {
  const { reader, responseId, reply } = await startAnswer({ model: 'main' });
  configure({ MODELS: '[{"id": 7}]' });
  reply.send(callFrame(0, 'c1', 'todo_write', '{"merge":false,"todos":[]}'), ...endFrames('stop'));
  reply.close();
  await reader.toEnd();
  const { documents } = await readResponse(responseId);
  expect(documents.at(-1)?.metadata).toMatchObject({
    errorCode: 'NOT_CONFIGURED',
    source: 'drawbridge',
  });
});
