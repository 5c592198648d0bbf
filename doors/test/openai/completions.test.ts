import { runInDurableObject } from 'cloudflare:test';
import { expect, it, vi } from 'vitest';
import { streamOf } from '../../../test/far-ends/reply-script.ts';
import { call, scriptModel } from '../../../test/worker/api.ts';
import { conversationObject } from '../../../test/worker/conversation/conversing.ts';
import {
  endFrames,
  holdModel,
  readFile,
  textFrame,
  thoughtFrame,
} from '../../../test/worker/conversation/held-model.ts';
import { connectBridge } from '../../../test/worker/tunnel/scripted-bridge.ts';
import { complete, completed, openAiError, streamed } from './completing.ts';

const MARKDOWN = 'Look:\n\n```js\nlet a;\n```\n\n```1:2:src/a.ts\nx\n```\n\nThat is all.';

it('a completion is the whole answer as Markdown, with usage and a reason', async () => {
  scriptModel(() => ({ text: MARKDOWN }));
  const response = await complete({ model: 'gpt-x' });
  const conversationId = response.headers.get('drawbridge-conversation-id') ?? '';
  const completion = await response.json();
  expect(completion).toEqual({
    id: expect.stringMatching(/^chatcmpl-[0-9a-f-]{36}$/),
    object: 'chat.completion',
    created: expect.closeTo(Date.now() / 1000, -1),
    model: 'gpt-x',
    choices: [
      {
        index: 0,
        message: { role: 'assistant', content: MARKDOWN, refusal: null },
        logprobs: null,
        finish_reason: 'stop',
      },
    ],
    usage: { prompt_tokens: 11, completion_tokens: 7, total_tokens: 18 },
    drawbridge_usage: { prompt_tokens: 11, completion_tokens: 7, total_tokens: 18 },
  });
  expect(conversationId).toMatch(/^conv_/);
});

it('a completion has no usage that the model server did not count', async () => {
  scriptModel(() => streamOf([textFrame('Hi.'), ...endFrames('stop')]));
  expect(await completed()).not.toHaveProperty('usage');
});

it('a completion has cached and reasoning tokens, and the reasoning', async () => {
  const usage = {
    prompt_tokens: 5,
    completion_tokens: 4,
    total_tokens: 9,
    prompt_tokens_details: { cached_tokens: 3 },
    completion_tokens_details: { reasoning_tokens: 2 },
  };
  scriptModel(() => streamOf([thoughtFrame('Hm.'), textFrame('Hi.'), ...endFrames('stop', usage)]));
  const { usage: counted, choices } = await completed();
  expect(counted).toEqual(usage);
  expect(choices[0]?.message).toEqual({
    role: 'assistant',
    content: 'Hi.',
    refusal: null,
    reasoning_content: 'Hm.',
  });
});

it('a completion joins the text between tool calls, and leaves out the tools', async () => {
  const bridge = await connectBridge();
  scriptModel((_, turn) =>
    turn === 0 ? { text: 'I read.', calls: [readFile('a.txt')] } : { text: 'It says A.' },
  );
  const answering = complete({ bridgeId: bridge.bridgeId });
  const { callId } = await bridge.nextCall();
  bridge.succeed(callId, '1|A');
  const { choices } = await (await answering).json<Awaited<ReturnType<typeof completed>>>();
  expect(choices[0]?.message.content).toBe('I read.\n\nIt says A.');
});

it('a streamed completion has the same content, in chunks of one id, and ends with [DONE]', async () => {
  scriptModel(() => ({ text: MARKDOWN, chunkChars: 3 }));
  const reader = await (await streamed()).toEnd();
  expect(reader.content).toBe(MARKDOWN);
  expect(reader.chunks[0]?.choices[0]?.delta).toEqual({ role: 'assistant', content: '' });
  expect(reader.finishReason).toBe('stop');
  expect(new Set(reader.chunks.map(({ id, object, model }) => `${id} ${object} ${model}`))).toEqual(
    new Set([`${reader.chunks[0]?.id} chat.completion.chunk scripted`]),
  );
  expect(reader.chunks.every((chunk) => !('usage' in chunk))).toBe(true);
  expect(reader.isDone).toBe(true);
});

it('a streamed completion has usage in a last chunk on request', async () => {
  scriptModel(() => ({ text: 'Hi.' }));
  const reader = await streamed({ stream_options: { include_usage: true } });
  const { chunks } = await reader.toEnd();
  expect(chunks.at(-1)).toMatchObject({
    choices: [],
    usage: { prompt_tokens: 11, completion_tokens: 7, total_tokens: 18 },
  });
  expect(chunks.slice(0, -1).map(({ usage }) => usage)).toEqual(chunks.slice(1).map(() => null));
});

it('a streamed completion has the reasoning beside the content', async () => {
  scriptModel(() =>
    streamOf([
      thoughtFrame('Let me '),
      thoughtFrame('see.'),
      textFrame('Hi.'),
      ...endFrames('stop'),
    ]),
  );
  const reader = await (await streamed()).toEnd();
  expect(reader.reasoning).toBe('Let me see.');
  expect(reader.content).toBe('Hi.');
});

it('a streamed completion reaches a slow reader whole, and once', async () => {
  const text = 'words '.repeat(200_000).trim();
  scriptModel(() => ({ text, chunkChars: 20_000 }));
  const reader = await streamed();
  await reader.untilContent('words');
  await vi.waitFor(async () => expect(await followersOf(reader.conversationId)).toBe(0));
  await reader.toEnd();
  expect(reader.content === text).toBe(true);
  expect(reader.finishReason).toBe('stop');
});

it('a streamed completion shows an answer while it is written', async () => {
  const model = holdModel();
  const asking = streamed();
  const reply = await model.next();
  reply.send(textFrame('First'));
  const reader = await asking;
  await reader.untilContent('First');
  reply.send(textFrame(', then.'), ...endFrames('stop'));
  reply.close();
  expect((await reader.toEnd()).content).toBe('First, then.');
});

it.each([
  ['length', 'length'],
  ['content_filter', 'content_filter'],
])('%s of the model is the finish_reason %s', async (upstream, expected) => {
  scriptModel(() => streamOf([textFrame('Half'), ...endFrames(upstream)]));
  const { choices } = await completed();
  expect(choices[0]).toMatchObject({ finish_reason: expected, message: { content: 'Half' } });
  const reader = await (await streamed()).toEnd();
  expect([reader.finishReason, reader.content]).toEqual([expected, 'Half']);
});

it('a budget that is spent is the finish_reason length, with what was said', async () => {
  const todos = { todos: [{ id: 'a', content: 'A', status: 'pending' }], merge: true };
  const calls = [{ name: 'todo_write', arguments: todos }];
  scriptModel(() => ({ text: 'Half', calls }));
  const { choices } = await completed({ budget: { maxTurns: 1 } });
  expect(choices[0]).toMatchObject({ finish_reason: 'length', message: { content: 'Half' } });
});

it.each([false, true])(
  'an upstream error before any word is a 502 (stream: %s)',
  async (stream) => {
    scriptModel(() => Response.json({ error: { message: 'No such model: x' } }, { status: 404 }));
    const response = await complete({ stream });
    expect(response.headers.get('x-should-retry')).toBe('false');
    expect(response.headers.get('drawbridge-conversation-id')).toMatch(/^conv_/);
    expect(await openAiError(response)).toEqual({
      status: 502,
      message: 'No such model: x',
      type: 'server_error',
      param: null,
      code: 'upstream_error',
    });
  },
);

it.each([false, true])('a prompt that is too long is a 400 (stream: %s)', async (stream) => {
  const error = { message: 'too long', code: 'context_length_exceeded' };
  scriptModel(() => Response.json({ error }, { status: 400 }));
  expect(await openAiError(await complete({ stream }))).toMatchObject({
    status: 400,
    type: 'invalid_request_error',
    param: 'messages',
    code: 'context_length_exceeded',
  });
});

it('an error after the first words is one within the stream', async () => {
  const model = holdModel();
  const asking = streamed();
  const reply = await model.next();
  reply.send(textFrame('Half'));
  const reader = await asking;
  await reader.untilContent('Half');
  reply.close(new Error('connection reset'));
  await reader.toEnd();
  expect(reader.content).toBe('Half');
  expect(reader.errors).toEqual([
    expect.objectContaining({ type: 'server_error', code: 'upstream_interrupted' }),
  ]);
  expect(reader.finishReason).toBeNull();
  expect(reader.isDone).toBe(true);
});

it('a failure is not to be repeated once tools have run', async () => {
  const bridge = await connectBridge();
  scriptModel((_, turn) =>
    turn === 0
      ? { calls: [readFile('a.txt')] }
      : Response.json({ error: { message: 'Bad request' } }, { status: 400 }),
  );
  const answering = complete({ bridgeId: bridge.bridgeId });
  const { callId } = await bridge.nextCall();
  bridge.succeed(callId, '1|A');
  expect(await openAiError(await answering)).toMatchObject({
    status: 424,
    message: 'Bad request',
    code: 'upstream_error',
  });
});

it('a completion makes a conversation that is not listed', async () => {
  scriptModel(() => ({ text: 'Hi.' }));
  const account = 'grace';
  await complete({}, { account });
  const { items } = await (await call('conversations', { account })).json<{ items: unknown[] }>();
  expect(items).toEqual([]);
});

it('a completion with store makes a listed conversation', async () => {
  scriptModel(() => ({ text: 'Hi.' }));
  const account = 'edsger';
  const response = await complete({ store: true }, { account });
  const { items } = await (await call('conversations', { account })).json<{
    items: { id: string; title: string }[];
  }>();
  expect(items).toMatchObject([
    { id: response.headers.get('drawbridge-conversation-id'), title: 'go' },
  ]);
});

async function followersOf(conversationId: string): Promise<number> {
  return await runInDurableObject(
    conversationObject(conversationId),
    (_, state) => state.getWebSockets('follower').length,
  );
}
