import { createParser } from 'eventsource-parser';
import type {
  Response as OpenAiResponse,
  ResponseStreamEvent,
} from 'openai/resources/responses/responses';
import { describe, expect, it } from 'vitest';
import { streamOf } from '../../../test/far-ends/reply-script.ts';
import { scriptModel } from '../../../test/worker/api.ts';
import {
  endFrames,
  holdModel,
  readFile,
  textFrame,
  thoughtFrame,
} from '../../../test/worker/conversation/held-model.ts';
import { connectBridge } from '../../../test/worker/tunnel/scripted-bridge.ts';
import { type Asking, callV1, openAiError } from './completing.ts';

/** `POST /v1/responses`; without input of its own it says "go". */
async function respond(body: Record<string, unknown> = {}, asking?: Asking): Promise<Response> {
  return await callV1('responses', asking, JSON.stringify({ input: 'go', ...body }));
}

async function responded(
  body: Record<string, unknown> = {},
): Promise<OpenAiResponse & { conversationId: string | null }> {
  const answer = await respond(body);
  const conversationId = answer.headers.get('drawbridge-conversation-id');
  return { ...(await answer.json<OpenAiResponse>()), conversationId };
}

/** All events of a stream, each of which is named by its type. */
async function eventsOf(response: Response): Promise<ResponseStreamEvent[]> {
  const events: ResponseStreamEvent[] = [];
  const parser = createParser({
    onEvent: ({ event, data }) => {
      events.push(JSON.parse(data));
      expect(event).toBe(events.at(-1)?.type);
    },
  });
  parser.feed(await response.text());
  expect(events.map((event) => event.sequence_number)).toEqual([...events.keys()]);
  return events;
}

const message = (text: string) =>
  expect.objectContaining({
    type: 'message',
    role: 'assistant',
    content: [expect.objectContaining({ type: 'output_text', text })],
  });

it('a response is the whole answer, with its reasoning, usage and an id to go on from', async () => {
  scriptModel(() => streamOf([thoughtFrame('Hm.'), textFrame('Hi.'), ...endFrames('stop', USAGE)]));
  const response = await responded({ model: 'gpt-x', instructions: 'Be brief.' });
  expect(response).toMatchObject({
    id: expect.stringMatching(/^resp_[0-9a-f-]{36}$/),
    object: 'response',
    status: 'completed',
    model: 'gpt-x',
    error: null,
    store: true,
    instructions: 'Be brief.',
    previous_response_id: null,
    incomplete_details: null,
    created_at: expect.closeTo(Date.now() / 1000, -1),
    output: [
      { type: 'reasoning', summary: [{ type: 'summary_text', text: 'Hm.' }] },
      message('Hi.'),
    ],
    usage: { input_tokens: 5, output_tokens: 4, total_tokens: 9 },
  });
});

it('a response says what was used, also where the request says nothing', async () => {
  scriptModel(() => streamOf([textFrame('Hi.'), ...endFrames('stop')]));
  const { id, created_at, completed_at, output, ...settings } = await responded({ model: 'gpt-x' });
  expect(completed_at).toBeGreaterThanOrEqual(created_at);
  expect(settings).toMatchObject({
    ...{ object: 'response', status: 'completed', model: 'gpt-x', error: null, store: true },
    ...{ incomplete_details: null, instructions: null, previous_response_id: null },
    ...{ temperature: 1, top_p: 1, presence_penalty: 0, frequency_penalty: 0, top_logprobs: 0 },
    ...{ tools: [], tool_choice: 'auto', parallel_tool_calls: true, max_tool_calls: null },
    ...{ max_output_tokens: null, truncation: 'auto', reasoning: null, service_tier: 'default' },
    ...{ background: false, metadata: {}, safety_identifier: null, prompt_cache_key: null },
    text: { format: { type: 'text' } },
  });
});

it('a response repeats the settings of its request', async () => {
  scriptModel(() => streamOf([textFrame('{"a":1}'), ...endFrames('stop')]));
  const schema = { type: 'object', properties: { a: { type: 'number' } } };
  const set = { temperature: 0.5, top_p: 0.25, max_output_tokens: 99, safety_identifier: 'ana' };
  const tools = [{ type: 'function', name: 'go', parameters: { type: 'object' } }];
  const format = { type: 'json_schema', name: 'part', schema };
  expect(await responded({ ...set, tools, text: { format } })).toMatchObject({
    ...set,
    tools: [{ ...tools[0], description: null, strict: null }],
    text: { format: { type: 'json_schema', schema } },
  });
});

it('a response that has only begun has no usage and no time of its end', async () => {
  scriptModel(() => ({ text: 'Hi.' }));
  const [begun] = await eventsOf(await respond({ stream: true }));
  const response = { status: 'in_progress', usage: null, completed_at: null, output: [] };
  expect(begun).toMatchObject({ type: 'response.created', response });
});

const USAGE = { prompt_tokens: 5, completion_tokens: 4, total_tokens: 9 };

it('a streamed response has the same items, each from its start to its end', async () => {
  scriptModel(() =>
    streamOf([
      ...[thoughtFrame('Let '), thoughtFrame('me.'), textFrame('It '), textFrame('is.')],
      ...endFrames('stop', USAGE),
    ]),
  );
  const events = await eventsOf(await respond({ stream: true }));
  const types = events.map(({ type }) => type.replace('response.', ''));
  expect(types.filter((type, at) => type !== types[at - 1])).toEqual([
    ...['created', 'in_progress', 'output_item.added', 'reasoning_summary_part.added'],
    ...['reasoning_summary_text.delta', 'reasoning_summary_text.done'],
    ...['reasoning_summary_part.done', 'output_item.done'],
    ...['output_item.added', 'content_part.added', 'output_text.delta', 'output_text.done'],
    ...['content_part.done', 'output_item.done', 'completed'],
  ]);
  const done = events.filter((event) => event.type === 'response.output_item.done');
  const last = events.at(-1);
  if (last?.type !== 'response.completed') throw new Error('not completed');
  expect(last.response.output).toEqual(done.map(({ item }) => item));
  expect(done.map(({ output_index: index }) => index)).toEqual([0, 1]);
  expect(last.response.output[1]).toEqual(message('It is.'));
  expect(last.response.usage).toMatchObject({ total_tokens: 9 });
});

it('a streamed response shows text on both sides of a call as one message', async () => {
  const bridge = await connectBridge();
  scriptModel((_, turn) =>
    turn === 0 ? { text: 'I read.', calls: [readFile('a.txt')] } : { text: 'It says A.' },
  );
  const answering = respond({ bridgeId: bridge.bridgeId, stream: true });
  const { callId } = await bridge.nextCall();
  bridge.succeed(callId, '1|A');
  const events = await eventsOf(await answering);
  const done = events.filter((event) => event.type === 'response.output_item.done');
  expect(done.map(({ item }) => item)).toEqual([message('I read.\n\nIt says A.')]);
});

describe('the conversation goes on', () => {
  it('after the last response in itself, and after an earlier one as a fork', async () => {
    const requests = scriptModel((_, number) => ({ text: `Answer ${number}.` }));
    const first = await responded({ input: 'walrus' });
    const second = await responded({ input: 'ferret', previous_response_id: first.id });
    expect(second.conversationId).toBe(first.conversationId);
    expect(second.previous_response_id).toBe(first.id);
    const said = JSON.stringify(requests.at(-1)?.messages);
    expect(said).toMatch(/walrus.*Answer \d.*ferret/s);
    const other = await responded({ input: 'marmot', previous_response_id: first.id });
    expect(other.conversationId).not.toBe(first.conversationId);
    const forked = JSON.stringify(requests.at(-1)?.messages);
    expect(forked).toMatch(/walrus.*Answer \d.*marmot/s);
    expect(forked).not.toContain('ferret');
  });

  it('where the client refers to items of earlier answers', async () => {
    const requests = scriptModel(() => ({ text: 'Mine.' }));
    const first = await responded({ input: 'walrus' });
    const { id } = first.output[0] ?? {};
    const second = await responded({
      input: [
        { role: 'user', content: 'walrus' },
        { type: 'item_reference', id },
        { role: 'user', content: [{ type: 'input_text', text: 'ferret' }] },
      ],
    });
    expect(second.conversationId).toBe(first.conversationId);
    const said = JSON.stringify(requests.at(-1)?.messages);
    expect(said.match(/walrus/g)).toHaveLength(1);
    expect(said).toMatch(/walrus.*Mine\..*ferret/s);
  });

  it('not after a response that is not stored, or of another account', async () => {
    scriptModel(() => ({ text: 'Hi.' }));
    const fleeting = await responded({ store: false });
    const stored = await responded();
    for (const [previous, account] of [
      [fleeting.id, 'ada'],
      [stored.id, 'eve'],
      ['resp_68af4030592c81938ec0a5fbab4a3e9f05438e46b5f69a3b', 'ada'],
    ] as const) {
      const refused = await respond({ previous_response_id: previous }, { account });
      expect(await openAiError(refused)).toMatchObject({
        status: 404,
        code: 'not_found',
        param: 'previous_response_id',
      });
    }
  });
});

it('a whole history in items becomes the messages of the first request', async () => {
  const requests = scriptModel(() => ({ text: 'Hi.' }));
  await responded({
    store: false,
    input: [
      { role: 'developer', content: 'Rhyme.' },
      { role: 'user', content: 'walrus' },
      { type: 'reasoning', id: 'rs_x', summary: [] },
      { type: 'function_call', call_id: 'c1', name: 'look', arguments: '{"a":1}' },
      { type: 'function_call_output', call_id: 'c1', output: 'seen' },
      { role: 'assistant', content: [{ type: 'output_text', text: 'So it is.' }] },
      { role: 'user', content: [{ type: 'input_image', image_url: 'https://a.test/b.png' }] },
    ],
  });
  const said = JSON.stringify(requests.at(-1)?.messages);
  expect(said).toMatch(/Rhyme\..*walrus.*look\(.*seen.*So it is\..*a\.test\/b\.png/s);
});

describe('a request that cannot be answered as it wants is a 400 that names the field', () => {
  it.each<[Record<string, unknown>, string, RegExp]>([
    [{ tools: [{ type: 'function', name: 'a b' }] }, 'tools[0].name', /./],
    [{ tool_choice: 'each' }, 'tool_choice', /chooses its own tools/],
    [{ tool_choice: { type: 'function', name: 'f' } }, 'tool_choice', /no function/],
    [{ background: true }, 'background', /agents/],
    [{ conversation: 'conv_1' }, 'conversation', /previous_response_id/],
    [{ prompt: { id: 'p' } }, 'prompt', /./],
    [{ text: { format: { type: 'json_schema' } } }, 'text.format.schema', /./],
    [{ input: [] }, 'input', /./],
    [{ input: ' ' }, 'input', /not empty/],
    [{ input: [{ role: 'assistant', content: 'x' }] }, 'input', /role user/],
    [{ input: [{ type: 'web_search_call', id: 'w' }] }, 'input[0].type', /./],
    [{ input: [{ type: 'item_reference', id: 'msg_x' }] }, 'input[0].id', /no answer/i],
    [
      { input: [{ role: 'user', content: [{ type: 'input_file', file_id: 'f' }] }] },
      'input[0].content[0].file_data',
      /Only images and text files/,
    ],
    [
      { input: [{ role: 'user', content: [{ type: 'input_image', image_url: 'file:///x' }] }] },
      'input[0].content[0].image_url',
      /An image is an https URL/,
    ],
  ])('%j', async (body, param, words) => {
    const error = await openAiError(await respond(body));
    expect(error).toMatchObject({ status: 400, type: 'invalid_request_error', param });
    expect(error.message).toMatch(words);
  });
});

it('fields that only tune a model are ignored, and named', async () => {
  scriptModel(() => ({ text: 'Hi.' }));
  const answer = await respond({ reasoning: { effort: 'high' }, include: [], text: {}, top_p: 1 });
  expect(answer.status).toBe(200);
  expect(answer.headers.get('drawbridge-ignored-fields')).toBe('reasoning, include');
  expect(await answer.json()).toMatchObject({ top_p: 1, parallel_tool_calls: true, tools: [] });
});

it('an answer that was cut short is incomplete, with the reason', async () => {
  scriptModel(() => streamOf([textFrame('Half'), ...endFrames('length')]));
  const cut = {
    status: 'incomplete',
    incomplete_details: { reason: 'max_output_tokens' },
    output: [message('Half')],
  };
  expect(await responded()).toMatchObject(cut);
  const events = await eventsOf(await respond({ stream: true }));
  expect(events.at(-1)).toMatchObject({ type: 'response.incomplete', response: cut });
});

it.each([false, true])(
  'an upstream error before any word is a 502 (stream: %s)',
  async (stream) => {
    scriptModel(() => Response.json({ error: { message: 'No such model: x' } }, { status: 404 }));
    const response = await respond({ stream });
    expect(response.headers.get('x-should-retry')).toBe('false');
    expect(await openAiError(response)).toMatchObject({ status: 502, code: 'upstream_error' });
  },
);

it('an error after the first words is a failed response, with what was said', async () => {
  const model = holdModel();
  const asking = respond({ stream: true });
  const reply = await model.next();
  reply.send(textFrame('Half'));
  const response = await asking;
  reply.close(new Error('connection reset'));
  expect((await eventsOf(response)).at(-1)).toMatchObject({
    type: 'response.failed',
    response: {
      status: 'failed',
      error: { code: 'server_error', message: expect.stringMatching(/^upstream_interrupted: /) },
      output: [message('Half')],
    },
  });
});
