import { expect, it } from 'vitest';
import { normaliseError, type UpstreamError } from '../errors.ts';
import { UPSTREAM_LIMITS } from '../limits.ts';
import { readWholeReply } from '../reader.ts';

const JSON_TYPE = 'application/json; charset=utf-8';

const NOTHING: UpstreamError = { message: '', code: null, type: null, status: 400 };

/** Title -> a body under HTTP 400, and what is made of it beside {@link NOTHING}. */
const BODIES: readonly (readonly [string, unknown, Partial<UpstreamError>])[] = [
  [
    "OpenAI's shape",
    { error: { message: 'No such model', type: 'invalid_request_error', code: 'model_not_found' } },
    { message: 'No such model', type: 'invalid_request_error', code: 'model_not_found' },
  ],
  ['an error that is a string', { error: 'No such model' }, { message: 'No such model' }],
  [
    'a flat error',
    { object: 'error', message: 'm', type: 'Bad', code: 42 },
    { message: 'm', type: 'Bad', code: '42' },
  ],
  ['a detail', { detail: 'Not here' }, { message: 'Not here' }],
  [
    "FastAPI's list of details",
    { detail: [{ loc: ['body', 'n'], msg: 'too big' }, { msg: 'too odd' }] },
    { message: 'too big; too odd', param: 'n' },
  ],
  [
    "Mistral's message that is an object",
    { object: 'error', message: { detail: [{ msg: 'extra field' }] }, type: 'invalid' },
    { message: 'extra field', type: 'invalid' },
  ],
  ['a list of errors', { success: false, errors: [{ code: 7, message: 'm' }] }, { message: 'm' }],
  [
    'an array around it',
    [{ error: { message: 'm', status: 'INVALID_ARGUMENT' } }],
    { message: 'm' },
  ],
  [
    'a message beside an error that has none',
    { error: { code: 'x' }, message: 'm' },
    { message: 'm', code: 'x' },
  ],
  ['an event that holds it', 'event: error\ndata: {"error":{"message":"m"}}\n\n', { message: 'm' }],
  ['plain words', 'upstream connect error\n\n  reset', { message: 'upstream connect error reset' }],
  ['nothing', '', { message: 'The model server answered HTTP 400.' }],
  ['broken JSON', '{"error": {"mess', { message: 'The model server answered HTTP 400.' }],
  ['JSON without words', { ok: false }, { message: 'The model server answered HTTP 400.' }],
  [
    'a page',
    '<!DOCTYPE html><html><h1>502</h1></html>',
    { message: 'The model server answered HTTP 400.' },
  ],
  [
    'a page in the message',
    { error: { message: 'oops <html><body>x' } },
    { message: 'The model server answered HTTP 400.' },
  ],
  ['XML', '<Error><Code>1</Code></Error>', { message: 'The model server answered HTTP 400.' }],
  [
    'a message that is nested too deep',
    { error: { message: { msg: { detail: { errors: ['m'] } } } } },
    { message: 'The model server answered HTTP 400.' },
  ],
];

it.each(BODIES)('understands %s', (_, body, expected) => {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  expect(normaliseError(400, JSON_TYPE, text)).toEqual({ ...NOTHING, ...expected });
});

/** What servers say, and the code they say it with. */
const OVERFLOWS: readonly (readonly [string, string | number | null, string | null])[] = [
  ['Too long', 'context_length_exceeded', 'invalid_request_error'],
  [
    'request (2009 tokens) exceeds the available context size (512 tokens)',
    400,
    'exceed_context_size_error',
  ],
  ["This model's maximum context length is 4096 tokens", 400, 'BadRequestError'],
  ["the model's context length is only 4096 tokens", null, null],
  ["This model's maximum prompt length is 131072 but the request contains 200000", null, null],
  ['prompt is too long: 210000 tokens > 200000 maximum', null, 'invalid_request_error'],
  ['The input token count (1200000) exceeds the maximum number of tokens allowed', null, null],
  ['Prompt contains 9 tokens, too large for model with 8 maximum context length', null, null],
  ['The number of tokens to keep is greater than the context length', null, null],
  ['Input exceeds the maximum allowed input length', null, null],
  ['Please reduce the length of the messages or completion.', null, null],
  ["The input (9 tokens) is longer than the model's context length (8 tokens).", null, null],
  ['Your request exceeded model token limit: 262144', null, null],
  ['invalid params, context window exceeds limit', null, null],
  ['Range of input length should be [1, 98304]', null, null],
  ['prompt too long; exceeded max context length by 4 tokens', null, null],
  ['`inputs` tokens + `max_new_tokens` must be <= 4096', null, null],
];

it.each(OVERFLOWS)('has one code for a context that is too long: %s', (message, code, type) => {
  const body = JSON.stringify({ error: { message, code, type } });
  expect(normaliseError(400, JSON_TYPE, body)).toEqual({
    message,
    code: 'CONTEXT_LENGTH_EXCEEDED',
    type,
    status: 400,
  });
});

it('knows a context that is too long from the words of the provider behind a gateway', () => {
  const error = {
    message: 'Provider returned error',
    code: 400,
    metadata: { raw: '{"message":"prompt is too long"}' },
  };
  expect(normaliseError(400, JSON_TYPE, JSON.stringify({ error }))).toMatchObject({
    message: 'Provider returned error',
    code: 'CONTEXT_LENGTH_EXCEEDED',
  });
});

it('keeps a message within its limit and whole in its characters', () => {
  const text = `${'x'.repeat(UPSTREAM_LIMITS.maxErrorChars - 2)}${'😀'.repeat(1000)}`;
  const { message } = normaliseError(500, 'text/plain', text);
  expect(message).toBe(`${'x'.repeat(UPSTREAM_LIMITS.maxErrorChars - 2)}…`);
});

it('shows nothing of a body that calls itself HTML', () => {
  expect(normaliseError(503, 'text/html', 'Service down').message).toBe(
    'The model server answered HTTP 503.',
  );
});

it('survives JSON that is nested without end', () => {
  const body = `{"detail":${'['.repeat(100_000)}${']'.repeat(100_000)}}`;
  expect(normaliseError(400, JSON_TYPE, body).message).toBe('The model server answered HTTP 400.');
});

it('a body that is no stream is a complete answer when it is a completion', () => {
  const body = JSON.stringify({
    object: 'chat.completion',
    choices: [
      {
        index: 0,
        message: {
          role: 'assistant',
          content: '<think>hm</think>Done.',
          tool_calls: [{ id: 'c1', type: 'function', function: { name: 'f', arguments: '{}' } }],
        },
        finish_reason: 'tool_calls',
      },
    ],
    usage: { prompt_tokens: 1, completion_tokens: 2, total_tokens: 3 },
  });
  const call = { id: 'c1', name: 'f', rawArguments: '{}', arguments: {}, mayExecute: true };
  expect(readWholeReply(200, JSON_TYPE, body)).toEqual({
    parts: [
      { type: 'reasoning', text: 'hm' },
      { type: 'text', text: 'Done.' },
      { type: 'call', call: 0, name: 'f', arguments: '{}' },
    ],
    reply: {
      outcome: 'completed',
      finishReason: 'tool_calls',
      text: 'Done.',
      reasoning: 'hm',
      calls: [call],
      usage: { promptTokens: 1, completionTokens: 2, totalTokens: 3 },
      error: null,
    },
  });
});

it('a body that is no stream is truncated when the completion is', () => {
  const body = '{"choices":[{"message":{"content":"a"},"finish_reason":"length"}]}';
  expect(readWholeReply(200, JSON_TYPE, body).reply).toMatchObject({
    outcome: 'truncated',
    text: 'a',
  });
});

it('a body that is no stream is an error under HTTP 200 too', () => {
  const body = '{"error":{"message":"Rate limited","code":429},"choices":[]}';
  expect(readWholeReply(200, JSON_TYPE, body)).toEqual({
    parts: [],
    reply: {
      outcome: 'error',
      finishReason: null,
      text: '',
      reasoning: null,
      calls: [],
      usage: null,
      error: { message: 'Rate limited', code: '429', type: null, status: 429 },
    },
  });
});

it('a body that is no stream is an error when it is anything else', () => {
  const { error } = readWholeReply(200, 'text/html', '<html>Log in</html>').reply;
  expect(error?.message).toBe('The model server sent something that is not an answer.');
});

it('a body that is no stream is an error under an error status, whatever it holds', () => {
  const body = '{"choices":[{"message":{"content":"a"}}]}';
  expect(readWholeReply(500, JSON_TYPE, body).reply).toMatchObject({
    outcome: 'error',
    text: '',
    error: { message: 'The model server answered HTTP 500.', status: 500 },
  });
});
