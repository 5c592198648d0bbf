import { SELF } from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import { describe, expect, it, vi } from 'vitest';
import { REQUEST_LIMITS } from '../../../shared/limits.ts';
import { scriptModel, tokenFor } from '../../../test/worker/api.ts';
import { app } from '../../../worker/app.ts';
import { callV1, complete, openAiError } from './completing.ts';

const user = { role: 'user', content: 'go' };
const image = { type: 'image_url', image_url: { url: 'https://example.com/a.png' } };

describe('a request that cannot be answered as it wants is a 400 that names the field', () => {
  it.each<[string, Record<string, unknown>, string, RegExp]>([
    ['a tool without a type', { tools: [{ name: 'f' }] }, 'tools[0].type', /./],
    ['functions', { functions: [{ name: 'f' }] }, 'functions', /as tools/],
    ['several answers', { n: 2 }, 'n', /one answer/],
    ['a grammar', { response_format: { type: 'grammar' } }, 'response_format.type', /./],
    ['sound', { modalities: ['text', 'audio'] }, 'modalities[1]', /text only/],
    ['a voice', { audio: { voice: 'alloy', format: 'wav' } }, 'audio', /text only/],
    ['a choice of its tools', { tool_choice: 'each' }, 'tool_choice', /chooses its own tools/],
    ['the same by its old name', { function_call: 'none' }, 'function_call', /chooses its own/],
    ['fewer tools', { availableTools: { grep: {} } }, 'availableTools', /chat\/completions/],
    ['fewer tools as others call them', { allowed_tools: ['x'] }, 'allowed_tools', /./],
    ['few calls', { max_tool_calls: 1 }, 'max_tool_calls', /./],
    ['rules that there are not', { context: { rulez: [] } }, 'context.rulez', /no such field/],
    ['no messages', { messages: [] }, 'messages', /./],
    [
      'a last word of its own',
      { messages: [user, { role: 'assistant', content: 'x' }] },
      'messages',
      /last message must have the role user/,
    ],
    [
      'an empty message',
      { messages: [{ role: 'user', content: ' ' }] },
      'messages',
      /must not be empty/,
    ],
    ['an unknown role', { messages: [{ role: 'critic', content: 'x' }] }, 'messages[0].role', /./],
    [
      'a sound as a message',
      { messages: [{ role: 'user', content: [{ type: 'input_audio' }] }] },
      'messages[0].content[0].type',
      /./,
    ],
    [
      'an image of the system',
      { messages: [{ role: 'system', content: [image] }, user] },
      'messages[0].content',
      /Only messages of the role user/,
    ],
    ['a mode that cannot exist', { mode: 'Yolo!' }, 'mode', /./],
    [
      'too long a history',
      { messages: Array(REQUEST_LIMITS.maxHistoryMessages + 1).fill(user) },
      'messages',
      /./,
    ],
  ])('%s', async (_, body, param, message) => {
    expect(await openAiError(await complete(body))).toEqual({
      status: 400,
      type: 'invalid_request_error',
      param,
      code: 'invalid_request',
      message: expect.stringMatching(message),
    });
  });
});

it('accepts what only tunes the model, and empty lists and nulls where OpenAI does', async () => {
  const requests = scriptModel(() => ({ text: 'Hi.' }));
  const response = await complete({
    temperature: 0.2,
    top_p: 1,
    max_tokens: 5,
    max_completion_tokens: 5,
    seed: 1,
    stop: ['x'],
    user: 'u',
    metadata: { a: 'b' },
    reasoning_effort: 'low',
    logit_bias: {},
    n: 1,
    tools: [],
    response_format: { type: 'text' },
    modalities: ['text'],
    audio: null,
    stream: null,
    stream_options: null,
    store: null,
    functions: null,
  });
  expect(response.status).toBe(200);
  expect(requests[0]).toMatchObject({ temperature: 0.2, max_tokens: 5, user: 'u' });
});

it('names the fields that it ignores in a header', async () => {
  scriptModel(() => ({ text: 'Hi.' }));
  const fields = { logprobs: true, seed: null, metadata: {}, 'bad\nname': 1, tool_choice: 'auto' };
  for (const stream of [false, true]) {
    const response = await complete({ ...fields, stream });
    expect(response.headers.get('drawbridge-ignored-fields')).toBe('logprobs, metadata');
    await response.text();
  }
  const plain = await complete({ messages: [user] });
  expect(plain.headers.get('drawbridge-ignored-fields')).toBe(null);
});

describe('errors below /v1 have the shape of OpenAI', () => {
  it.each<[string, () => Promise<Response>, object]>([
    [
      'no token',
      () => SELF.fetch('https://drawbridge.test/v1/models'),
      { status: 401, type: 'invalid_request_error', code: 'invalid_api_key', param: null },
    ],
    [
      'nothing there',
      () => callV1('embeddings', {}, ''),
      { status: 404, type: 'invalid_request_error', code: 'not_found' },
    ],
    [
      'no JSON',
      () => callV1('chat/completions', {}, '{'),
      { status: 400, type: 'invalid_request_error', code: 'invalid_json' },
    ],
    [
      'no such bridge',
      () => complete({ bridgeId: `bridge_${crypto.randomUUID()}` }),
      { status: 404, type: 'invalid_request_error', code: 'not_found', param: 'bridgeId' },
    ],
    [
      'too many requests',
      async () => {
        const headers = { authorization: `Bearer ${await tokenFor({ account: 'alan' })}` };
        const settings = { ...env, RATE_LIMIT_REQUESTS_PER_MINUTE: '1' };
        const list = () =>
          app.fetch(new Request('https://x.test/v1/models', { headers }), settings);
        await list();
        return await list();
      },
      { status: 429, type: 'rate_limit_error', code: 'rate_limit_exceeded' },
    ],
    [
      'a bug',
      async () => {
        vi.spyOn(console, 'error').mockReturnValue();
        vi.spyOn(env.ACCOUNTS, 'get').mockImplementation(() => {
          throw new Error('secret');
        });
        return await complete();
      },
      {
        status: 500,
        type: 'server_error',
        code: 'internal',
        message: expect.not.stringContaining('secret'),
      },
    ],
  ])('%s', async (_, ask, expected) => {
    expect(await openAiError(await ask())).toMatchObject(expected);
  });
});
