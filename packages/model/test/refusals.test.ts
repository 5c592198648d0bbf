/** What the ladder makes of the refusals that servers are known to send. */
import { expect, it, vi } from 'vitest';
import type { Sampling } from '../../../shared/api/requests.ts';
import type { ModelDialect } from '../../../shared/settings/dialects.ts';
import { shiftClock } from '../../../test/worker/conversation/shifted-clock.ts';
import { normaliseError } from '../errors.ts';
import { askModel } from '../gateway.ts';
import { UPSTREAM_LIMITS } from '../limits.ts';
import { afterRefusal, type RefusedHistory } from '../refusals/ladder.ts';
import { targetOf } from './target.ts';

const HISTORY: RefusedHistory = { isMostlyFull: false, wasShortened: false };

/** The fields of the bodies of each dialect, beside what was said. */
const FIELDS: Record<ModelDialect, object> = {
  chat: {
    model: 'm',
    tool_choice: 'auto',
    parallel_tool_calls: false,
    temperature: 0.2,
    top_p: 0.5,
    stop: ['x'],
    seed: 1,
    user: 'u',
    max_tokens: 99_999,
    stream: true,
    stream_options: {},
  },
  responses: {
    model: 'm',
    tool_choice: 'auto',
    parallel_tool_calls: false,
    temperature: 0.2,
    user: 'u',
    max_output_tokens: 99_999,
    store: false,
    include: [],
  },
  anthropic: { model: 'm', max_tokens: 99_999, temperature: 0.2, metadata: {}, tool_choice: {} },
};

function judged(status: number, error: unknown, dialect: ModelDialect = 'chat', history = HISTORY) {
  const body = typeof error === 'string' ? { error: { message: error } } : error;
  return afterRefusal(normaliseError(status, 'application/json', JSON.stringify(body)), {
    target: targetOf({ dialect }),
    fields: { ...FIELDS[dialect] },
    hasTools: true,
    history,
  });
}

it.each<[string, unknown, string]>([
  // vLLM, SGLang, llama.cpp, Ollama, LM Studio, TGI, LiteLLM
  ['vLLM', "This model's maximum context length is 4096 tokens. However, you requested 5000.", ''],
  ['SGLang', 'The input (9 tokens) is longer than the model context length (8 tokens).', ''],
  ['llama.cpp', 'the request exceeds the available context size, try increasing it', ''],
  ['Ollama', 'input length exceeds maximum context length', ''],
  ['LM Studio', 'Trying to keep the first 9000 tokens when the context overflows', ''],
  ['TGI', 'Input validation error: `inputs` must have less than 4096 tokens. Too many tokens', ''],
  ['LiteLLM', 'ContextWindowExceededError: prompt has too many tokens', ''],
  ['Together', 'Input is too large: 40000 tokens, the limit is 32768', ''],
  ['Fireworks', 'The prompt is too long: 140000, model maximum context length: 131071', ''],
  ['Cerebras', 'Current length is 9000 while limit is 8192 tokens', ''],
  ['Cohere', 'too many tokens: total number of tokens in the prompt cannot exceed 4081', ''],
  ['Bedrock', 'Input is too long for requested model.', ''],
  ['Vertex', 'The input token count (9) exceeds the maximum number of tokens allowed (8).', ''],
  ['Azure', 'Input tokens exceed the configured limit of 272000 tokens.', ''],
  ['DeepSeek', 'This model supports 65536 tokens of context, the prompt exceeds that limit', ''],
  ['Workers AI', 'The estimated number of input and maximum output tokens exceeded this model', ''],
  ['OpenRouter', 'This endpoint has a maximum input window that your prompt exceeds', ''],
  ['Anthropic', 'prompt is too long: 210000 tokens > 200000 maximum', ''],
  ['a named message', 'content too long: 2000000 tokens exceed the maximum', 'messages[3].content'],
])('%s says that a request is too long', (_, message, param) => {
  const error = { message, ...(param && { param }) };
  expect(judged(400, { error })).toEqual({ type: 'shorten' });
});

it('a request that no server takes is too long, whatever it says', () => {
  expect(judged(413, 'Request Entity Too Large')).toEqual({ type: 'shorten' });
  const error = { message: 'TPM: Limit 6000, Requested 9000', code: 'request_too_large' };
  expect(judged(413, { error })).toEqual({ type: 'shorten' });
});

it.each<[ModelDialect, unknown, object]>([
  [
    'chat',
    "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
    { switches: { maxTokensField: 'max_completion_tokens' } },
  ],
  [
    'chat',
    'max_tokens is too large: 99999. This model supports at most 8192 completion tokens, whereas you provided 99999.',
    { maxOutputTokens: 8_192 },
  ],
  [
    'chat', // vLLM: its numbers are of this prompt.
    "'max_tokens' or 'max_completion_tokens' is too large: 99999. This model's maximum context length is 4096 tokens and your request has 500 input tokens.",
    { omitted: ['max_tokens'], isOnce: true },
  ],
  ['anthropic', 'max_tokens: 99999 > 8192, which is the maximum', { maxOutputTokens: 8_192 }],
  [
    'responses',
    "Invalid 'max_output_tokens': integer above maximum value.",
    { omitted: ['max_output_tokens'] },
  ],
  ['chat', '`temperature` is deprecated for this model.', { omitted: ['temperature'] }],
  [
    'responses',
    "Unsupported value: 'temperature' does not support 0.2 with this model. Only the default (1) value is supported.",
    { omitted: ['temperature'] },
  ],
  ['chat', 'top_p is not supported', { omitted: ['top_p'] }],
  ['chat', { error: { message: 'Unknown', param: 'stop' } }, { omitted: ['stop'] }],
  ['chat', 'Unrecognized request argument supplied: seed', { omitted: ['seed'] }],
  ['chat', 'property user is unsupported, did you mean n?', { omitted: ['user'] }],
  [
    'chat',
    'parallel_tool_calls: Extra inputs are not permitted',
    { omitted: ['parallel_tool_calls'] },
  ],
  ['chat', 'body.stream_options: Extra inputs are not permitted', { omitted: ['stream_options'] }],
  [
    'chat',
    {
      detail: [
        {
          type: 'extra_forbidden',
          loc: ['body', 'tool_choice'],
          msg: 'Extra inputs are not permitted',
        },
      ],
    },
    { omitted: ['tool_choice'] },
  ],
  ['anthropic', 'metadata: unknown field', { omitted: ['metadata'] }],
  ['chat', 'System role not supported', { switches: { systemRole: 'user' } }],
  [
    'chat',
    'Developer instruction is not enabled for models/gemma-3',
    { switches: { systemRole: 'user' } },
  ],
  [
    'chat',
    {
      error: {
        message: "Unsupported value: 'messages[0].role' does not support 'system'",
        param: 'messages[0].role',
      },
    },
    { switches: { systemRole: 'user' } },
  ],
])('%s: a setting that is refused is changed: %j', (dialect, error, concession) => {
  for (const status of [400, 422])
    expect(judged(status, error, dialect)).toEqual({ type: 'setting', concession });
});

it.each<[ModelDialect, unknown, string]>([
  ['chat', { error: { message: 'must be at most 2', param: 'temperature' } }, 'temperature'],
  ['chat', "Invalid 'stop': array too long. Expected at most 4", 'stop'],
  ['anthropic', 'metadata.user_id: string too long', 'user'],
  ['anthropic', 'temperature: range: 0..1', 'temperature'],
])('%s: only the client can change a value that is refused: %j', (dialect, error, field) => {
  expect(judged(400, error, dialect)).toEqual({ type: 'end', code: 'SETTING_REFUSED', field });
});

it.each<[number, unknown]>([
  [400, 'does not support tools'],
  [400, 'registry.ollama.ai/library/gemma:2b does not support tools'],
  [404, 'No endpoints found that support tool use.'],
  [400, '"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set'],
  [400, { error: { message: "Unsupported parameter: 'tools'", param: 'tools' } }],
])('%i %j: the model has no tools', (status, error) => {
  expect(judged(status, error)).toEqual({ type: 'end', code: 'MODEL_WITHOUT_TOOLS' });
});

it.each<[number, unknown]>([
  [401, 'Incorrect API key provided'],
  [403, 'You have no access to this model'],
  [404, 'The model m does not exist'],
  [400, { error: { message: 'No such model', code: 'model_not_found' } }],
  [400, { error: { message: 'Paid up?', code: 'insufficient_quota' } }],
  [400, { error: { message: 'Too fast', type: 'rate_limit_error' } }],
  [429, 'Too many tokens in a minute: the limit is 6000'],
  [402, 'Payment required'],
  [500, 'Sorry'],
])('%i %j is about no request', (status, error) => {
  expect(judged(status, error)).toEqual({ type: 'end' });
});

it.each<[number, unknown]>([
  [
    400,
    {
      error: {
        message: 'The prompt triggered the policy.',
        code: 'content_filter',
        param: 'prompt',
      },
    },
  ],
  [403, { error: { message: 'Refused', code: 'content_policy_violation' } }],
  [
    400,
    {
      error: {
        message: 'Input data may contain inappropriate content.',
        code: 'data_inspection_failed',
      },
    },
  ],
  [
    400,
    'messages.1.content.1.image.source.base64.data: dimensions exceed max allowed size: 8000 pixels',
  ],
  [400, "Invalid 'input[6].name': string too long. Expected a string with maximum length 64."],
  [400, 'Invalid content in tool result'],
  [
    422,
    {
      detail: [{ loc: ['body', 'messages', 2, 'content'], msg: 'Input should be a valid string' }],
    },
  ],
  [400, 'Bad Request'],
  [400, ''],
])('%i %j is about a part of what was said', (status, error) => {
  expect(judged(status, error)).toEqual({ type: 'leave_out' });
});

it('a refusal without a reason is one of length where the window is half full, once', () => {
  const full = { ...HISTORY, isMostlyFull: true };
  expect(judged(400, 'Bad Request', 'chat', full)).toEqual({ type: 'shorten', isSuspicion: true });
  const shortened = { isMostlyFull: true, wasShortened: true };
  expect(judged(400, 'Bad Request', 'chat', shortened)).toEqual({ type: 'leave_out' });
});

it('what a server refuses is not sent to it again for a day, or until its settings change', async () => {
  const clock = shiftClock();
  const upstreamId = crypto.randomUUID();
  const sent: boolean[] = [];
  vi.spyOn(globalThis, 'fetch').mockImplementation(async (_, init) => {
    const has = 'temperature' in JSON.parse(String(init?.body));
    sent.push(has);
    if (has)
      return Response.json({ error: { message: '`temperature` is deprecated' } }, { status: 400 });
    return new Response(
      'data: {"choices":[{"delta":{"content":"Hi"},"finish_reason":"stop"}]}\n\n',
    );
  });
  const ask = async (changes = {}, sampling: Sampling = { temperature: 0.2 }) => {
    const request = { model: 'm', messages: [], tools: [], sampling };
    const target = targetOf({ upstreamId, ...changes });
    const answer = await askModel(target, request, () => {}, new AbortController().signal);
    return answer.adjusted;
  };
  expect(await ask()).toEqual(['temperature']);
  expect(await ask()).toEqual(['temperature']);
  expect(await ask({}, {})).toBeUndefined();
  await ask({ maxOutputTokens: 7 });
  clock.aheadMs += UPSTREAM_LIMITS.learnedMs;
  await ask();
  expect(sent).toEqual([true, false, false, false, true, false, true, false]);
});

it('nothing is remembered of what has not helped', async () => {
  const upstreamId = crypto.randomUUID();
  const sent: string[][] = [];
  vi.spyOn(globalThis, 'fetch').mockImplementation(async (_, init) => {
    const fields = Object.keys(JSON.parse(String(init?.body)));
    sent.push(fields.filter((name) => name === 'user' || name === 'temperature'));
    const message = fields.includes('temperature') ? "'temperature' is unknown" : 'No';
    return Response.json({ error: { message } }, { status: 400 });
  });
  const sampling = { temperature: 0.2, user: 'u' };
  const request = { model: 'm', messages: [], tools: [], sampling };
  for (let times = 0; times < 2; times++) {
    const { signal } = new AbortController();
    const answer = await askModel(targetOf({ upstreamId }), request, () => {}, signal);
    expect(answer.after).toEqual({ type: 'end' });
  }
  expect(sent).toEqual([['temperature', 'user'], ['user'], ['temperature', 'user'], ['user']]);
});
