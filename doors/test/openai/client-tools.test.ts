import { abortAllDurableObjects, runDurableObjectAlarm } from 'cloudflare:test';
import { createParser } from 'eventsource-parser';
import type { ChatCompletion } from 'openai/resources/chat/completions';
import type {
  Response as OpenAiResponse,
  ResponseStreamEvent,
} from 'openai/resources/responses/responses';
import { beforeEach, describe, expect, it } from 'vitest';
import { Random } from '../../../bench/fuzz/random.ts';
import { RUN_LIMITS } from '../../../shared/limits.ts';
import { fewOf } from '../../../test/depth.ts';
import { call, scriptModel } from '../../../test/worker/api.ts';
import { conversationObject } from '../../../test/worker/conversation/conversing.ts';
import {
  endFrames,
  holdModel,
  readFile,
  textFrame,
} from '../../../test/worker/conversation/held-model.ts';
import { shiftClock } from '../../../test/worker/conversation/shifted-clock.ts';
import { connectBridge } from '../../../test/worker/tunnel/scripted-bridge.ts';
import { callV1, complete, completed, openAiError, streamed } from './completing.ts';

const WEATHER = {
  name: 'get_weather',
  description: 'The weather of a place.',
  parameters: { type: 'object', properties: { place: { type: 'string' } }, required: ['place'] },
};
const TOOLS = [{ type: 'function', function: { ...WEATHER, strict: true } }];
const weatherIn = (place: string) => ({ name: 'get_weather', arguments: { place } });
const USER = { role: 'user', content: 'How is it in Rome and Oslo?' };

/** A model that asks for the weather of two places, and then says what it got. */
function scriptWeather() {
  return scriptModel(({ messages }) => {
    const results = messages.filter(({ role }) => role === 'tool');
    if (results.length > 0) return { text: `I got ${results.map(({ content }) => content)}.` };
    return { text: 'I look.', calls: [weatherIn('Rome'), weatherIn('Oslo')] };
  });
}

function resultsFor({ choices }: ChatCompletion, ...outputs: string[]) {
  const { message } = choices[0] ?? {};
  const calls = message?.tool_calls ?? [];
  return [
    USER,
    message,
    ...outputs.map((content, at) => ({ role: 'tool', tool_call_id: calls[at]?.id, content })),
  ];
}

describe('Chat Completions', () => {
  it('end with calls of the app’s tools, and go on with their results', async () => {
    const requests = scriptWeather();
    const first = await completed({ messages: [USER], tools: TOOLS });
    expect(first.choices[0]).toMatchObject({
      finish_reason: 'tool_calls',
      message: {
        content: 'I look.',
        tool_calls: [
          { type: 'function', function: { name: 'get_weather', arguments: '{"place":"Rome"}' } },
          { type: 'function', function: { name: 'get_weather', arguments: '{"place":"Oslo"}' } },
        ],
      },
    });
    const each = { prompt_tokens: 11, completion_tokens: 7, total_tokens: 18 };
    expect(first).toMatchObject({ usage: each, drawbridge_usage: each });
    const calls = first.choices[0]?.message.tool_calls ?? [];
    for (const { id } of calls) expect(id).toMatch(/^call_[\w-]{1,35}$/);
    const { strict: _, ...offered } = TOOLS[0]?.function ?? {};
    expect(requests[0]?.tools?.at(-1)).toEqual({ type: 'function', function: offered });
    const second = await completed({ messages: resultsFor(first, 'sun', 'snow'), tools: TOOLS });
    expect(second.choices[0]).toMatchObject({
      finish_reason: 'stop',
      message: { content: 'I got sun,snow.' },
    });
    expect(second.id).not.toBe(first.id);
    const both = { prompt_tokens: 22, completion_tokens: 14, total_tokens: 36 };
    expect(second).toMatchObject({ usage: each, drawbridge_usage: both });
    expect(requests).toHaveLength(2);
  });

  it('stream the calls in a chunk of their own, and the rest in the next stream', async () => {
    scriptWeather();
    const first = await (await streamed({ messages: [USER], tools: TOOLS })).toEnd();
    expect([first.content, first.finishReason, first.isDone]).toEqual([
      ...['I look.', 'tool_calls', true],
    ]);
    const deltas = first.chunks.flatMap(({ choices }) => choices[0]?.delta.tool_calls ?? []);
    expect(deltas.map(({ index, function: called }) => [index, called?.arguments])).toEqual([
      [0, '{"place":"Rome"}'],
      [1, '{"place":"Oslo"}'],
    ]);
    const results = deltas.map(({ id }, at) => ({
      role: 'tool',
      tool_call_id: id,
      content: `w${at}`,
    }));
    const second = await (await streamed({ messages: [USER, ...results] })).toEnd();
    expect([second.content, second.finishReason]).toEqual(['I got w0,w1.', 'stop']);
  });

  it('end only when the agent’s own calls of the turn are over, and survive a crash', async () => {
    const bridge = await connectBridge();
    const requests = scriptModel((_, turn) =>
      turn === 0 ? { calls: [weatherIn('Rome'), readFile('a.txt')] } : { text: 'Done.' },
    );
    const answering = completed({ tools: TOOLS, bridgeId: bridge.bridgeId });
    const { callId } = await bridge.nextCall();
    const early = await Promise.race([answering, Promise.resolve('none yet')]);
    expect(early).toBe('none yet');
    bridge.succeed(callId, '1|A');
    const first = await answering;
    expect(first.choices[0]?.message.content).toBeNull();
    await abortAllDurableObjects();
    const second = await completed({ messages: resultsFor(first, 'sun') });
    expect(second.choices[0]?.message.content).toBe('Done.');
    const said = requests[1]?.messages.filter(({ role }) => role === 'tool') ?? [];
    expect(said.map(({ content }) => content)).toEqual(['sun', expect.stringContaining('1|A')]);
  });

  it('may ask the app again and again', async () => {
    scriptModel((_, turn) => (turn < 3 ? { calls: [weatherIn(`${turn}`)] } : { text: 'Enough.' }));
    let answer = await completed({ messages: [USER], tools: TOOLS });
    const ids = new Set<string>();
    while (answer.choices[0]?.finish_reason === 'tool_calls') {
      for (const { id } of answer.choices[0].message.tool_calls ?? []) ids.add(id);
      answer = await completed({ messages: resultsFor(answer, 'sun') });
    }
    expect(ids.size).toBe(3);
    expect(answer.choices[0]?.message.content).toBe('Enough.');
  });

  it('offer no tools of the app with the choice none', async () => {
    const requests = scriptModel(() => ({ text: 'Hi.' }));
    await completed({ tools: TOOLS, tool_choice: 'none' });
    const names = requests[0]?.tools?.map((tool) => tool.function.name);
    expect(names).not.toContain('get_weather');
  });
});

describe('Responses', () => {
  const tools = [{ type: 'function', ...WEATHER, strict: true }];
  const respond = async (body: object, account = 'ada') =>
    await callV1('responses', { account }, JSON.stringify({ tools, ...body }));
  const responded = async (body: object) => await (await respond(body)).json<OpenAiResponse>();
  const callsIn = ({ output }: OpenAiResponse) =>
    output.flatMap((item) => (item.type === 'function_call' ? item : []));
  const outputsFor = (response: OpenAiResponse, ...outputs: string[]) =>
    outputs.map((output, at) => ({
      type: 'function_call_output',
      call_id: callsIn(response)[at]?.call_id,
      output,
    }));

  it.each([
    'with the id of the response before',
    'with the whole input',
    'with references to items',
  ])('end with calls of the app’s tools, and go on %s', async (how) => {
    scriptWeather();
    const first = await responded({ input: 'Rome and Oslo?' });
    expect(first.status).toBe('completed');
    expect(first.output.map(({ type }) => type)).toEqual([
      ...['message', 'function_call', 'function_call'],
    ]);
    const outputs = outputsFor(first, 'sun', 'snow');
    const question = { role: 'user', content: 'Rome and Oslo?' };
    const references = first.output.map(({ id }) => ({ type: 'item_reference', id }));
    const body = {
      'with the id of the response before': { previous_response_id: first.id, input: outputs },
      'with the whole input': { input: [question, ...first.output, ...outputs] },
      'with references to items': { input: [question, ...references, ...outputs] },
    }[how];
    const second = await responded(body ?? {});
    expect(second.id).not.toBe(first.id);
    expect(second.output).toMatchObject([{ content: [{ text: 'I got sun,snow.' }] }]);
    scriptModel(({ messages }) => ({ text: JSON.stringify(messages) }));
    const third = await responded({ previous_response_id: second.id, input: 'And then?' });
    expect(JSON.stringify(third.output)).toMatch(/Rome and Oslo\?.*snow.*And then\?/s);
  });

  it('stream each call as an item', async () => {
    scriptWeather();
    const response = await respond({ input: 'Rome?', stream: true });
    const events: ResponseStreamEvent[] = [];
    createParser({ onEvent: ({ data }) => events.push(JSON.parse(data)) }).feed(
      await response.text(),
    );
    const done = events.filter((event) => event.type === 'response.output_item.done');
    expect(done.map(({ item }) => item.type)).toEqual([
      ...['message', 'function_call', 'function_call'],
    ]);
    const last = events.at(-1);
    if (last?.type !== 'response.completed') throw new Error('not completed');
    expect(last.response.output).toEqual(done.map(({ item }) => item));
    const written = events.filter((each) => each.type === 'response.function_call_arguments.done');
    expect(written.map((each) => each.arguments)).toEqual(['{"place":"Rome"}', '{"place":"Oslo"}']);
  });

  it('go on without the results where a message comes in their place', async () => {
    const requests = scriptWeather();
    const first = await responded({ input: 'Rome?' });
    const second = await responded({ previous_response_id: first.id, input: 'Never mind.' });
    expect(JSON.stringify(second.output)).toContain('I got');
    expect(JSON.stringify(requests.at(-1)?.messages)).toMatch(
      /sent a message in place of the result.*Never mind\./s,
    );
    const late = await respond({ input: outputsFor(first, 'sun', 'snow') });
    expect(await openAiError(late)).toMatchObject({ status: 409, code: 'already_answered' });
  });
});

it('the same results again follow the same run', async () => {
  const model = holdModel();
  const asking = completed({ messages: [USER], tools: TOOLS, store: true });
  (await model.next()).answer({ calls: [weatherIn('Rome')] });
  const messages = resultsFor(await asking, 'sun');
  const one = completed({ messages, store: true });
  const reply = await model.next();
  reply.send(textFrame('Sun'));
  const two = await streamed({ messages, store: true });
  await two.untilContent('Sun');
  reply.send(textFrame('ny.'), ...endFrames('stop'));
  reply.close();
  expect((await two.toEnd()).content).toBe('Sunny.');
  expect((await one).choices[0]?.message.content).toBe('Sunny.');
  expect(model.count).toBe(2);
});

it('says each text once, however its turns, streams and crashes come', async () => {
  for (let seed = 1; seed <= fewOf(12, 3); seed++) {
    const random = new Random(seed);
    const turns = Array.from({ length: 1 + random.below(5) }, (_, turn) => ({
      text: random.below(3) === 0 ? '' : `Text ${turn}, with \`code\`.`,
      calls: Array.from({ length: 1 + random.below(3) }, (_, at) => weatherIn(`${turn}-${at}`)),
    }));
    const end = 'The end.';
    scriptModel((_, turn) => turns[turn] ?? { text: end });
    const said: string[] = [];
    let body: Record<string, unknown> = { messages: [USER], tools: TOOLS, store: true };
    for (const { calls } of [...turns, { calls: [] }]) {
      const { content, ids } = await answerTo(body, random.below(2) === 0);
      said.push(content);
      expect(ids).toHaveLength(calls.length);
      if (random.below(3) === 0) await abortAllDurableObjects();
      const results = ids.map((id) => ({ role: 'tool', tool_call_id: id, content: 'sun' }));
      body = { messages: [USER, ...results], store: true };
    }
    expect({ seed, said }).toEqual({ seed, said: [...turns.map(({ text }) => text), end] });
  }
});

/** One answer, as a stream or in one piece. */
async function answerTo(body: Record<string, unknown>, isStreamed: boolean) {
  if (isStreamed) {
    const { content, chunks } = await (await streamed(body)).toEnd();
    const deltas = chunks.flatMap(({ choices }) => choices[0]?.delta.tool_calls ?? []);
    return { content, ids: deltas.flatMap(({ id }) => id ?? []) };
  }
  const { message } = (await completed(body)).choices[0] ?? {};
  return { content: message?.content ?? '', ids: (message?.tool_calls ?? []).map(({ id }) => id) };
}

describe('results that do not fit', () => {
  let first: ChatCompletion;
  beforeEach(async () => {
    scriptWeather();
    first = await completed({ messages: [USER], tools: TOOLS, store: true });
  });

  it('all of a turn come together', async () => {
    const refused = await openAiError(await complete({ messages: resultsFor(first, 'sun') }));
    expect(refused).toMatchObject({ status: 400, message: expect.stringMatching(/doc_003.*all/) });
    const whole = await completed({ messages: resultsFor(first, 'sun', 'snow') });
    expect(whole.choices[0]?.message.content).toBe('I got sun,snow.');
  });

  it('another one than before is refused, in a run that is over and in one that goes on', async () => {
    const [one, two] = [weatherIn('Rome'), weatherIn('Oslo')];
    scriptModel((_, turn) => (turn === 0 ? { calls: [one] } : { calls: [two] }));
    const going = await completed({ messages: [USER], tools: TOOLS });
    const again = await completed({ messages: resultsFor(going, 'sun') });
    expect(again.choices[0]?.finish_reason).toBe('tool_calls');
    for (const output of ['sun', 'rain']) {
      const refused = await complete({ messages: resultsFor(going, output) });
      expect(await openAiError(refused)).toMatchObject({ status: 409, code: 'already_answered' });
    }
    await completed({ messages: resultsFor(first, 'sun', 'snow') });
    const refused = await complete({ messages: resultsFor(first, 'sun', 'snow') });
    expect(await openAiError(refused)).toMatchObject({ status: 409, code: 'already_answered' });
  });

  it.each([
    ['a call that no answer made', 'call_7', 400],
    ['a call of a response that does not exist', `call_${crypto.randomUUID()}_2`, 404],
  ])('%s', async (_, id, status) => {
    const messages = [USER, { role: 'tool', tool_call_id: id, content: 'x' }];
    expect(await openAiError(await complete({ messages }))).toMatchObject({ status });
  });

  it('nothing reaches the run of another account', async () => {
    const stranger = { account: 'eve' };
    const refused = await complete({ messages: resultsFor(first, 'a', 'b') }, stranger);
    expect(await openAiError(refused)).toMatchObject({ status: 404, code: 'not_found' });
    const whole = await completed({ messages: resultsFor(first, 'sun', 'snow') });
    expect(whole.choices[0]?.message.content).toBe('I got sun,snow.');
  });

  it('none at all: the run ends when its time is over, and asks no model for it', async () => {
    const clock = shiftClock();
    const requests = scriptWeather();
    const answer = await complete({ messages: [USER], tools: TOOLS, store: true });
    const id = answer.headers.get('drawbridge-conversation-id') ?? '';
    const waiting = await (await call(`conversations/${id}`)).json();
    expect(waiting).toMatchObject({ responses: [{ status: 'waiting' }] });
    clock.aheadMs = RUN_LIMITS.approvalMs + 1;
    await runDurableObjectAlarm(conversationObject(id));
    const over = await (await call(`conversations/${id}`)).json<{ responses: object[] }>();
    expect(over).toMatchObject({ responses: [{ status: 'error' }] });
    expect(JSON.stringify(over)).toContain('RESULTS_MISSING');
    expect(requests).toHaveLength(1);
  });
});

describe('tools that are refused', () => {
  const named = (name: string) => ({ type: 'function', function: { name } });
  it.each([
    ['no name', [{ type: 'function', function: {} }], /./],
    ['a name with blanks', [named('a b')], /./],
    ['one twice', [named('a'), named('a')], /the same name/],
    ['too many', Array.from({ length: 129 }, (_, at) => named(`f${at}`)), /./],
    [
      'too large ones',
      [{ type: 'function', function: { name: 'f', description: 'x'.repeat(270_000) } }],
      /262144 characters/,
    ],
  ])('%s', async (_, tools, reason) => {
    const refused = await openAiError(await complete({ tools }));
    expect(refused).toMatchObject({ status: 400, param: expect.stringMatching(/^tools/) });
    expect(refused.message).toMatch(reason);
  });
});
