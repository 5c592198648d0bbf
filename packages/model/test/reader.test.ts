import { describe, expect, it } from 'vitest';
import { ReplyReader, type UpstreamReply } from '../reader.ts';
import { expectReply, type ReplyCase } from './reply-case.ts';
import { call, chunk, DONE, finish, streamOf, toolCalls } from './splits.ts';

const STOP = finish('stop');
const CALLED = finish('tool_calls');
const USAGE = { promptTokens: 5, completionTokens: 2, totalTokens: 7 };
const WIRE_USAGE = { prompt_tokens: 5, completion_tokens: 2, total_tokens: 7 };

const ENVELOPE: readonly ReplyCase[] = [
  [
    'text is joined',
    streamOf(chunk({ role: 'assistant', content: '' }), text('Good '), text('day.'), STOP, DONE),
    { text: 'Good day.' },
  ],
  [
    'chunks without choices and choices without a delta are skipped',
    streamOf(
      { choices: [], prompt_filter_results: [{}], id: '', model: '' },
      { choices: [{ index: 0, content_filter_results: {}, finish_reason: null }] },
      text('a'),
      STOP,
      { choices: [], sla_metrics: {} },
      DONE,
      { choices: [] },
    ),
    { text: 'a' },
  ],
  [
    'only the choice with index 0 counts, wherever it stands',
    streamOf(
      {
        choices: [
          { index: 1, delta: { content: 'x' } },
          { index: 0, delta: { content: 'a' } },
        ],
      },
      { choices: [{ index: 1, delta: { content: 'y' }, finish_reason: 'length' }] },
      { choices: [{ delta: { content: 'b' }, finish_reason: 'stop' }] },
      DONE,
    ),
    { text: 'ab' },
  ],
  [
    'a message beside the delta is not read',
    streamOf(
      chunk({ content: 'a' }, { message: { content: 'a' } }),
      chunk({ content: 'b' }, { message: { content: 'ab' } }),
      STOP,
    ),
    { text: 'ab' },
  ],
  [
    'fields of other types are as if they were missing',
    streamOf(
      { choices: [{ index: 0, delta: { content: 7, tool_calls: null, reasoning: {} } }] },
      { choices: [null, 'x', { index: 0, delta: null, finish_reason: false }], usage: 'many' },
      { choices: 'none', error: null },
      chunk({ content: 'a', tool_calls: [], function_call: null, refusal: null }),
      STOP,
    ),
    { text: 'a' },
  ],
  [
    'data that is no object is skipped',
    streamOf('data: 1763640000\n\n', 'data: "hm"\n\n', 'data: null\n\n', text('a'), STOP, DONE),
    { text: 'a' },
  ],
  [
    'nothing behind [DONE] counts',
    streamOf(text('a'), STOP, DONE, text('b'), finish('length'), { error: 'late' }),
    { text: 'a' },
  ],
  [
    'content can be a list of typed parts, mixed with strings',
    streamOf(
      chunk({ content: [{ type: 'thinking', thinking: [{ type: 'text', text: 'Hm' }] }] }),
      chunk({
        content: [
          { type: 'thinking', thinking: 'm.' },
          { type: 'text', text: 'a' },
          { type: 'reference', reference_ids: [1] },
        ],
      }),
      text('b'),
      chunk({ content: { type: 'text', text: 'c' } }),
      STOP,
    ),
    { text: 'abc', reasoning: 'Hmm.' },
  ],
  [
    'a refusal is text',
    streamOf(
      chunk({ content: null, refusal: 'I ' }),
      chunk({ content: '', refusal: "can't." }),
      STOP,
    ),
    { text: "I can't." },
  ],
  [
    'white space alone is no text',
    streamOf(text('\n'), text('\n '), chunk({ reasoning: 'r' }), text(' '), STOP),
    { reasoning: 'r' },
  ],
  [
    'white space before text is text',
    streamOf(text('\n'), text(' a'), text(' \n'), text('b'), STOP),
    { text: '\n a \nb' },
  ],
  [
    'halves of a character in two deltas are one character',
    streamOf('data: {"choices":[{"delta":{"content":"a\\ud83d"}}]}\n\n', text('\ude00b'), STOP),
    { text: 'a😀b' },
  ],
  [
    'lone halves become U+FFFD',
    streamOf(
      text('\ude00a\ud83d'),
      text('b'),
      chunk({ reasoning: 'r\ud83d' }),
      text('c\ud83d'),
      STOP,
    ),
    { text: '\ufffda\ufffdbc\ufffd', reasoning: 'r\ufffd' },
  ],
];

const REASONING: readonly ReplyCase[] = [
  [
    'reasoning_content is reasoning',
    streamOf(
      chunk({ reasoning_content: 'think ' }),
      chunk({ reasoning_content: 'hard' }),
      text('a'),
      STOP,
    ),
    { text: 'a', reasoning: 'think hard' },
  ],
  [
    'of two fields with the same words one is taken',
    streamOf(
      chunk({ reasoning_content: 'r', reasoning: 'r' }),
      chunk({ reasoning: 's' }),
      STOP,
      DONE,
    ),
    { reasoning: 'rs' },
  ],
  [
    'details are merged and kept, and read where there is no other field',
    streamOf(
      details({ type: 'reasoning.text', text: 'one ', index: 0, format: 'f' }),
      details({ type: 'reasoning.text', text: 'two', index: 0, signature: 's' }),
      details({ type: 'reasoning.summary', summary: '.', index: 1 }),
      details({ type: 'reasoning.encrypted', data: 'x', index: 2 }),
      details({ type: 'reasoning.encrypted', data: 'y', index: 2 }),
      STOP,
    ),
    {
      reasoning: 'one two.',
      reasoningDetails: [
        { type: 'reasoning.text', text: 'one two', index: 0, format: 'f', signature: 's' },
        { type: 'reasoning.summary', summary: '.', index: 1 },
        { type: 'reasoning.encrypted', data: 'x', index: 2 },
        { type: 'reasoning.encrypted', data: 'y', index: 2 },
      ],
    },
  ],
  [
    'details beside another field are kept, and not read again',
    streamOf(
      chunk({ reasoning: 'r', reasoning_details: [{ type: 'reasoning.text', text: 'r' }] }),
      details({ type: 'reasoning.text', text: 'r', id: 'all' }),
      STOP,
    ),
    {
      reasoning: 'r',
      reasoningDetails: [
        { type: 'reasoning.text', text: 'r' },
        { type: 'reasoning.text', text: 'r', id: 'all' },
      ],
    },
  ],
  [
    'a leading think tag is reasoning, split anywhere',
    streamOf(...[...'\n<think>\nwhy</thin>\n</think>\r\n\n a'].map(text), STOP),
    { text: 'a', reasoning: '\nwhy</thin>\n' },
  ],
  [
    'a leading think tag is reasoning, whole',
    streamOf(text('<think>why</think>a <think>b</think>'), STOP),
    { text: 'a <think>b</think>', reasoning: 'why' },
  ],
  [
    'a think tag that never closes is all there is to say',
    streamOf(text('<think>\nIt is '), text('4.\n</thi'), STOP),
    { text: 'It is 4.\n</thi', reasoning: '\nIt is 4.\n</thi' },
  ],
  [
    'a think tag that never closes is said, where only [DONE] ends it',
    streamOf(text('<think>4'), DONE),
    { finishReason: null, text: '4', reasoning: '4' },
  ],
  [
    'a think tag that encloses nothing says nothing',
    streamOf(text('<think> \n'), STOP),
    { reasoning: ' \n' },
  ],
  [
    'a think tag that never closes before a call is reasoning',
    streamOf(text('<think>so'), toolCalls(call(0, 'a', 'f', '{}')), CALLED),
    {
      finishReason: 'tool_calls',
      reasoning: 'so',
      calls: [{ id: 'a', name: 'f', rawArguments: '{}', arguments: {}, mayExecute: true }],
    },
  ],
  [
    'a think tag that never closes in a cut answer is all reasoning',
    streamOf(text('<think>on and on</thi'), finish('length')),
    { outcome: 'truncated', finishReason: 'length', reasoning: 'on and on</thi' },
  ],
  [
    'a think tag that comes later is text',
    streamOf(text('So: '), text('<think>b</think>'), STOP),
    { text: 'So: <think>b</think>' },
  ],
  [
    'what only begins like the tag is text',
    streamOf(text(' <th'), text('in'), text('g>'), STOP),
    { text: ' <thing>' },
  ],
  ['half a tag at the end is text', streamOf(text('<thi'), STOP), { text: '<thi' }],
  [
    'a tag that is only closed stays text',
    streamOf(text('why</think>a'), STOP),
    { text: 'why</think>a' },
  ],
];

const ENDINGS: readonly ReplyCase[] = [
  ['a finish reason is enough', streamOf(text('a'), STOP), { text: 'a' }],
  [
    '[DONE] is enough where there is text',
    streamOf(text('a'), DONE),
    { text: 'a', finishReason: null },
  ],
  [
    '[DONE] without anything is no answer',
    streamOf(chunk({ role: 'assistant' }), DONE),
    { outcome: 'interrupted', finishReason: null },
  ],
  [
    'silence is no end',
    streamOf(text('a')),
    { outcome: 'interrupted', finishReason: null, text: 'a' },
  ],
  ['an empty body is no answer', '', { outcome: 'interrupted', finishReason: null }],
  [
    'a chunk cut off by the end is no answer',
    streamOf(text('a'), 'data: {"choices":[{"delta":{"content":"b'),
    { outcome: 'interrupted', finishReason: null, text: 'a' },
  ],
  ['the last event needs no blank line', streamOf(text('a'), STOP).trimEnd(), { text: 'a' }],
  [
    'the last reason that is not empty counts',
    streamOf(
      finish('length'),
      finish('stop'),
      finish(''),
      chunk({}, { finish_reason: null }),
      DONE,
    ),
    {},
  ],
  [
    'an unknown reason is an end',
    streamOf(text('a'), finish('eos')),
    { text: 'a', finishReason: 'eos' },
  ],
  [
    'an empty answer that ran out of tokens is not complete',
    streamOf(finish('length'), DONE),
    { outcome: 'truncated', finishReason: 'length' },
  ],
  [
    'other words for the token limit are known',
    streamOf(text('a'), finish('MAX_TOKENS'), DONE),
    { outcome: 'truncated', finishReason: 'MAX_TOKENS', text: 'a' },
  ],
  [
    'a content filter keeps the text',
    streamOf(text('a'), finish('content_filter'), DONE),
    { outcome: 'filtered', finishReason: 'content_filter', text: 'a' },
  ],
  [
    'calls are not wanted by a reason alone',
    streamOf(text('a'), CALLED, DONE),
    { finishReason: 'tool_calls', text: 'a' },
  ],
];

const USAGES: readonly ReplyCase[] = [
  [
    'usage is read from a chunk without choices, and nulls do not take it back',
    streamOf(
      text('a'),
      STOP,
      { choices: [], usage: WIRE_USAGE },
      { choices: [], usage: null },
      DONE,
    ),
    { text: 'a', usage: USAGE },
  ],
  [
    'the last usage counts, never the sum',
    streamOf(
      { ...text('a'), usage: { prompt_tokens: 5, completion_tokens: 1, total_tokens: 6 } },
      { ...STOP, usage: WIRE_USAGE },
    ),
    { text: 'a', usage: USAGE },
  ],
  [
    'the total is as sent',
    streamOf(STOP, { usage: { ...WIRE_USAGE, total_tokens: 40 } }),
    { usage: { ...USAGE, totalTokens: 40 } },
  ],
  [
    'a missing total is computed',
    streamOf(STOP, { usage: { prompt_tokens: 5, completion_tokens: 2 } }),
    { usage: USAGE },
  ],
  [
    "usage is found in Groq's own field",
    streamOf({ ...STOP, x_groq: { usage: WIRE_USAGE } }),
    { usage: USAGE },
  ],
  [
    'usage is found in the choice',
    streamOf(chunk({}, { finish_reason: 'stop', usage: WIRE_USAGE })),
    { usage: USAGE },
  ],
  [
    'cached and reasoning tokens are read where they are known',
    streamOf(STOP, {
      usage: {
        ...WIRE_USAGE,
        prompt_tokens_details: { cached_tokens: 4 },
        completion_tokens_details: { reasoning_tokens: 1 },
      },
    }),
    { usage: { ...USAGE, cachedPromptTokens: 4, reasoningTokens: 1 } },
  ],
  [
    "DeepSeek's cached tokens are read",
    streamOf(STOP, { usage: { ...WIRE_USAGE, prompt_cache_hit_tokens: 3 } }),
    { usage: { ...USAGE, cachedPromptTokens: 3 } },
  ],
  [
    'details that pose as the thoughts of another dialect are left out',
    streamOf(
      details({ dialect: 'anthropic', model: 'claude', place: 0, item: { type: 'tool_use' } }),
      text('a'),
      STOP,
    ),
    { text: 'a' },
  ],
  [
    'a total below its parts is their sum',
    streamOf(STOP, { usage: { ...WIRE_USAGE, total_tokens: 0 } }),
    { usage: USAGE },
  ],
  [
    'counts that no answer can have are none',
    streamOf(STOP, { usage: { prompt_tokens: 2 ** 53 - 1, completion_tokens: 1e10 } }),
    {},
  ],
  [
    'usage without numbers is none',
    streamOf({ ...STOP, usage: {} }, { usage: { prompt_tokens: '5' } }, { usage: [] }),
    {},
  ],
];

const ERRORS: readonly ReplyCase[] = [
  [
    'an error as the first event is the answer',
    streamOf({ error: { message: 'Overloaded', type: 'overloaded_error', code: 529 } }),
    failed('Overloaded', { code: '529', type: 'overloaded_error', status: 529 }),
  ],
  [
    'an error in the middle keeps the text and the usage',
    streamOf(
      text('a'),
      {
        ...chunk({ content: '' }, { finish_reason: 'error' }),
        error: { code: 502, message: 'Provider\n disconnected' },
        usage: WIRE_USAGE,
      },
      text('b'),
      DONE,
    ),
    {
      ...failed('Provider disconnected', { code: '502', status: 502 }),
      text: 'a',
      finishReason: 'error',
      usage: USAGE,
    },
  ],
  [
    'an event named error is one',
    streamOf(text('a'), 'event: error\ndata: {"error":{"message":"m","status_code":400}}\n\n'),
    { ...failed('m', { status: 400 }), text: 'a' },
  ],
  [
    'an error line is one, also before [DONE]',
    streamOf(text('a'), 'error: {"error":{"message":"failed to decode"}}\n\n', DONE),
    { ...failed('failed to decode'), text: 'a' },
  ],
  ['an error can be a string', streamOf({ error: 'out of memory' }), failed('out of memory')],
  [
    'an error can be flat',
    streamOf({ object: 'error', message: 'm', type: 'Bad', code: 400 }),
    failed('m', { code: '400', type: 'Bad', status: 400 }),
  ],
  [
    'an error can lie in the choice',
    streamOf({ choices: [{ index: 0, error: { message: 'm' }, finish_reason: 'stop' }] }),
    {
      ...failed('m'),
      finishReason: 'stop',
    },
  ],
  [
    'the reason error without an error is one',
    streamOf(text('a'), finish('error'), DONE),
    {
      ...failed('The model server reported an error without a message.'),
      finishReason: 'error',
      text: 'a',
    },
  ],
  [
    'error: null is no error',
    streamOf({ ...text('a'), error: null }, { ...STOP, error: '' }),
    { text: 'a' },
  ],
  [
    'a chunk that is no JSON ends the answer',
    streamOf(text('a'), 'data: {"choices": [{\n\n', text('b'), STOP, DONE),
    {
      ...failed('The model server sent a chunk that is not JSON.'),
      finishReason: 'stop',
      text: 'a',
    },
  ],
  [
    'a context that is too long has one code',
    streamOf({
      error: { message: 'This model has a maximum context length of 8192 tokens', code: null },
    }),
    failed('This model has a maximum context length of 8192 tokens', {
      code: 'CONTEXT_LENGTH_EXCEEDED',
    }),
  ],
];

describe.each([
  ['envelope and text', ENVELOPE],
  ['reasoning', REASONING],
  ['endings', ENDINGS],
  ['usage', USAGES],
  ['errors', ERRORS],
])('%s', (_, cases) => {
  it.each(cases)('%s', (__, body, expected) => expectReply(body, expected));
});

it('leaves think tags alone when asked to', () => {
  const reader = new ReplyReader({ thinkTags: false });
  const parts = reader.push(new TextEncoder().encode(streamOf(text('<think>a</think>b'), STOP)));
  expect(parts).toEqual([{ type: 'text', text: '<think>a</think>b' }]);
});

it('counts events with data, and says when the upstream is done', () => {
  const reader = new ReplyReader();
  const push = (text: string): [number, boolean] => {
    reader.push(new TextEncoder().encode(text));
    return [reader.eventCount, reader.isOver];
  };
  expect(push(': PROCESSING\n\nevent: ping\n\n')).toEqual([0, false]);
  expect(push(streamOf({ choices: [] }))).toEqual([1, false]);
  expect(push(DONE)).toEqual([2, true]);
});

it('joins what one read brings, per kind and call', () => {
  const body = streamOf(
    chunk({ reasoning: 'r' }),
    chunk({ reasoning: 's' }),
    text('a'),
    text('b'),
    toolCalls(call(0, 'c1', 'x', '{"')),
    toolCalls(call(0, 'c1', 'x', 'k":1}'), call(1, 'c2', 'y', '{}')),
  );
  expect(new ReplyReader().push(new TextEncoder().encode(body))).toEqual([
    { type: 'reasoning', text: 'rs' },
    { type: 'text', text: 'ab' },
    { type: 'call', call: 0, name: 'x', arguments: '{"k":1}' },
    { type: 'call', call: 1, name: 'y', arguments: '{}' },
  ]);
});

function text(content: string): object {
  return chunk({ content });
}

function details(...reasoning_details: readonly object[]): object {
  return chunk({ content: '', reasoning_details });
}

function failed(message: string, named: object = {}): Partial<UpstreamReply> {
  const error = { message, code: null, type: null, status: null, ...named };
  return { outcome: 'error', finishReason: null, error };
}
