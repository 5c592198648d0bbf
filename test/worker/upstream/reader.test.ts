import { describe, expect, it } from 'vitest';
import { type ReplyPart, ReplyReader, type UpstreamReply } from '../../../worker/upstream/reader.ts';
import { call, chunk, DONE, finish, splitsOf, streamOf, toolCalls } from './splits.ts';

/** Title -> what the server sends, and what the reply is beside {@link PLAIN}. */
type Case = readonly [string, string, Partial<UpstreamReply>];

const PLAIN: UpstreamReply = {
  outcome: 'completed',
  finishReason: 'stop',
  text: '',
  reasoning: null,
  calls: [],
  usage: null,
  error: null,
};

const STOP = finish('stop');
const CALLED = finish('tool_calls');
const USAGE = { promptTokens: 5, completionTokens: 2, totalTokens: 7 };
const WIRE_USAGE = { prompt_tokens: 5, completion_tokens: 2, total_tokens: 7 };

const ENVELOPE: readonly Case[] = [
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
      { choices: [{ index: 1, delta: { content: 'x' } }, { index: 0, delta: { content: 'a' } }] },
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
    streamOf(chunk({ content: null, refusal: 'I ' }), chunk({ content: '', refusal: "can't." }), STOP),
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
    streamOf(text('\ude00a\ud83d'), text('b'), chunk({ reasoning: 'r\ud83d' }), text('c\ud83d'), STOP),
    { text: '\ufffda\ufffdbc\ufffd', reasoning: 'r\ufffd' },
  ],
];

const REASONING: readonly Case[] = [
  [
    'reasoning_content is reasoning',
    streamOf(chunk({ reasoning_content: 'think ' }), chunk({ reasoning_content: 'hard' }), text('a'), STOP),
    { text: 'a', reasoning: 'think hard' },
  ],
  [
    'of two fields with the same words one is taken',
    streamOf(chunk({ reasoning_content: 'r', reasoning: 'r' }), chunk({ reasoning: 's' }), STOP, DONE),
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
    'a think tag that never closes is all reasoning',
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

const ENDINGS: readonly Case[] = [
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
  [
    'the last event needs no blank line',
    streamOf(text('a'), STOP).trimEnd(),
    { text: 'a' },
  ],
  [
    'the last reason that is not empty counts',
    streamOf(finish('length'), finish('stop'), finish(''), chunk({}, { finish_reason: null }), DONE),
    {},
  ],
  ['an unknown reason is an end', streamOf(text('a'), finish('eos')), { text: 'a', finishReason: 'eos' }],
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

const USAGES: readonly Case[] = [
  [
    'usage is read from a chunk without choices, and nulls do not take it back',
    streamOf(text('a'), STOP, { choices: [], usage: WIRE_USAGE }, { choices: [], usage: null }, DONE),
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
  ["usage is found in Groq's own field", streamOf({ ...STOP, x_groq: { usage: WIRE_USAGE } }), { usage: USAGE }],
  ['usage is found in the choice', streamOf(chunk({}, { finish_reason: 'stop', usage: WIRE_USAGE })), { usage: USAGE }],
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
    'usage without numbers is none',
    streamOf({ ...STOP, usage: {} }, { usage: { prompt_tokens: '5' } }, { usage: [] }),
    {},
  ],
];

const ERRORS: readonly Case[] = [
  [
    'an error as the first event is the answer',
    streamOf({ error: { message: 'Overloaded', type: 'overloaded_error', code: 529 } }),
    failed({ message: 'Overloaded', code: '529', type: 'overloaded_error', status: 529 }),
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
      ...failed({ message: 'Provider disconnected', code: '502', type: null, status: 502 }),
      text: 'a',
      finishReason: 'error',
      usage: USAGE,
    },
  ],
  [
    'an event named error is one',
    streamOf(text('a'), 'event: error\ndata: {"error":{"message":"m","status_code":400}}\n\n'),
    { ...failed({ message: 'm', code: null, type: null, status: 400 }), text: 'a' },
  ],
  [
    'an error line is one, also before [DONE]',
    streamOf(text('a'), 'error: {"error":{"message":"failed to decode"}}\n\n', DONE),
    { ...failed({ message: 'failed to decode', code: null, type: null, status: null }), text: 'a' },
  ],
  [
    'an error can be a string',
    streamOf({ error: 'out of memory' }),
    failed({ message: 'out of memory', code: null, type: null, status: null }),
  ],
  [
    'an error can be flat',
    streamOf({ object: 'error', message: 'm', type: 'Bad', code: 400 }),
    failed({ message: 'm', code: '400', type: 'Bad', status: 400 }),
  ],
  [
    'an error can lie in the choice',
    streamOf({ choices: [{ index: 0, error: { message: 'm' }, finish_reason: 'stop' }] }),
    {
      ...failed({ message: 'm', code: null, type: null, status: null }),
      finishReason: 'stop',
    },
  ],
  [
    'the reason error without an error is one',
    streamOf(text('a'), finish('error'), DONE),
    {
      ...failed({
        message: 'The model server reported an error without a message.',
        code: null,
        type: null,
        status: null,
      }),
      finishReason: 'error',
      text: 'a',
    },
  ],
  ['error: null is no error', streamOf({ ...text('a'), error: null }, { ...STOP, error: '' }), { text: 'a' }],
  [
    'a chunk that is no JSON ends the answer',
    streamOf(text('a'), 'data: {"choices": [{\n\n', text('b'), STOP, DONE),
    {
      ...failed({
        message: 'The model server sent a chunk that is not JSON.',
        code: null,
        type: null,
        status: null,
      }),
      finishReason: 'stop',
      text: 'a',
    },
  ],
  [
    'a context that is too long has one code',
    streamOf({ error: { message: 'This model has a maximum context length of 8192 tokens', code: null } }),
    failed({
      message: 'This model has a maximum context length of 8192 tokens',
      code: 'CONTEXT_LENGTH_EXCEEDED',
      type: null,
      status: null,
    }),
  ],
];

const CALLS: readonly Case[] = [
  [
    'a call arrives in fragments',
    streamOf(
      toolCalls(call(0, 'c1', 'read_file', '')),
      toolCalls({ index: 0, function: { arguments: '{"pa' } }),
      toolCalls({ index: 0, function: { arguments: 'th":"a"}' } }),
      CALLED,
      DONE,
    ),
    called(ran('c1', 'read_file', '{"path":"a"}')),
  ],
  [
    'calls run whatever the reason, if it is a good one',
    streamOf(toolCalls(call(0, 'c1', 'a', '{}')), STOP, DONE),
    { calls: [ran('c1', 'a', '{}')] },
  ],
  [
    'calls run after [DONE] alone',
    streamOf(toolCalls(call(0, 'c1', 'a', '{}')), DONE),
    { ...called(ran('c1', 'a', '{}')), finishReason: null },
  ],
  [
    'white space around calls is no text, and text before them stays',
    streamOf(text('Look: '), text('\n'), toolCalls(call(0, 'c1', 'a', '{}')), text(' \n'), CALLED),
    { ...called(ran('c1', 'a', '{}')), text: 'Look: \n' },
  ],
  [
    'text between calls stays',
    streamOf(toolCalls(call(0, 'c1', 'a', '{}')), text('\n'), text('and'), toolCalls(call(1, 'c2', 'b', '{}')), CALLED),
    { ...called(ran('c1', 'a', '{}'), ran('c2', 'b', '{}')), text: '\nand' },
  ],
  [
    'a call without an id gets one, and so does a second call with the same',
    streamOf(
      toolCalls(call(0, '', 'a', '{}'), call(1, 'c1', 'b', '{}')),
      toolCalls(call(2, 'c1', 'c', '{}'), call(3, null, 'd', '{}')),
      CALLED,
    ),
    called(
      ran('generated1', 'a', '{}'),
      ran('c1', 'b', '{}'),
      ran('generated2', 'c', '{}'),
      ran('generated3', 'd', '{}'),
    ),
  ],
  [
    'unknown fields of a call are kept to be sent back',
    streamOf(
      toolCalls({ ...call(0, 'c1', 'a', '{}'), extra_content: { google: { thought_signature: 's' } } }),
      toolCalls({ index: 0, note: null, function: {} }),
      CALLED,
    ),
    called({ ...ran('c1', 'a', '{}'), extra: { extra_content: { google: { thought_signature: 's' } } } }),
  ],
  [
    'halves of a character in two fragments are one character',
    streamOf(toolCalls(call(0, 'c1', 'a', '{"t":"\ud83d')), toolCalls(call(0, 'c1', 'a', '\ude00"}')), CALLED),
    called(ran('c1', 'a', '{"t":"😀"}')),
  ],
  [
    'a legacy function_call is one call',
    streamOf(
      chunk({ function_call: { name: 'a', arguments: '' } }),
      chunk({ function_call: { name: 'a', arguments: '{"x"' } }),
      chunk({ function_call: { arguments: ':1}' } }),
      finish('function_call'),
    ),
    { ...called(ran('generated1', 'a', '{"x":1}')), finishReason: 'function_call' },
  ],
  [
    'arguments that are no object do not run, and the other calls do',
    streamOf(toolCalls(call(0, 'c1', 'a', "{'x': 1}"), call(1, 'c2', 'b', '{}')), CALLED),
    called(
      refused('c1', 'a', "{'x': 1}", 'Not run: the arguments are not one whole JSON object.'),
      ran('c2', 'b', '{}'),
    ),
  ],
  [
    'a call whose name never comes does not run',
    streamOf(toolCalls({ index: 0, id: 'c1', function: { arguments: '{}' } }), CALLED),
    called({
      ...refused('c1', 'unnamed_tool', '{}', 'Not run: the call names no tool.'),
      arguments: {},
    }),
  ],
  [
    'executed_tools are not calls',
    streamOf(chunk({ executed_tools: [{ index: 0, type: 'search', arguments: '{}' }] }), text('a'), STOP),
    { text: 'a' },
  ],
  [
    'markup of calls in the text is text',
    streamOf(text('<|tool_call_begin|>functions.a:0{}<|tool_call_end|>'), STOP),
    { text: '<|tool_call_begin|>functions.a:0{}<|tool_call_end|>' },
  ],
];

const LIMIT = 'Not run: the answer reached its token limit. Ask for less in one answer.';
const BROKE_OFF = 'Not run: the answer broke off before its end.';

const CUT_CALLS: readonly Case[] = [
  [
    'after the token limit no call runs, not even a whole one',
    streamOf(toolCalls(call(0, 'c1', 'a', '{}'), call(1, 'c2', 'b', '{"x":')), finish('length'), DONE),
    {
      outcome: 'truncated',
      finishReason: 'length',
      calls: [
        { ...refused('c1', 'a', '{}', LIMIT), arguments: {} },
        refused('c2', 'b', '{"x":', LIMIT),
      ],
    },
  ],
  [
    "a gateway's tool_calls does not hide the model's token limit",
    streamOf(
      toolCalls(call(0, 'c1', 'a', '{"x":')),
      chunk({}, { finish_reason: 'tool_calls', native_finish_reason: 'max_output_tokens' }),
      DONE,
    ),
    {
      outcome: 'truncated',
      finishReason: 'tool_calls',
      calls: [refused('c1', 'a', '{"x":', LIMIT)],
    },
  ],
  [
    'after silence no call runs',
    streamOf(toolCalls(call(0, 'c1', 'a', '{}'))),
    {
      outcome: 'interrupted',
      finishReason: null,
      calls: [{ ...refused('c1', 'a', '{}', BROKE_OFF), arguments: {} }],
    },
  ],
  [
    '[DONE] alone does not complete a cut call',
    streamOf(text('a'), toolCalls(call(0, 'c1', 'a', '{"x":')), DONE),
    {
      outcome: 'interrupted',
      finishReason: null,
      text: 'a',
      calls: [refused('c1', 'a', '{"x":', BROKE_OFF)],
    },
  ],
  [
    'after an error no call runs',
    streamOf(toolCalls(call(0, 'c1', 'a', '{}')), CALLED, { error: 'm' }, DONE),
    {
      ...failed({ message: 'm', code: null, type: null, status: null }),
      finishReason: 'tool_calls',
      calls: [{ ...refused('c1', 'a', '{}', BROKE_OFF), arguments: {} }],
    },
  ],
  [
    'after a content filter no call runs',
    streamOf(toolCalls(call(0, 'c1', 'a', '{}')), finish('content_filter')),
    {
      outcome: 'filtered',
      finishReason: 'content_filter',
      calls: [
        {
          ...refused('c1', 'a', '{}', "Not run: the model server's content filter cut the answer."),
          arguments: {},
        },
      ],
    },
  ],
];

describe.each([
  ['envelope and text', ENVELOPE],
  ['reasoning', REASONING],
  ['endings', ENDINGS],
  ['usage', USAGES],
  ['errors', ERRORS],
  ['calls', CALLS],
  ['calls of answers that were cut', CUT_CALLS],
])('%s', (_, cases) => {
  it.each(cases)('%s', (__, body, expected) => {
    for (const pieces of splitsOf(new TextEncoder().encode(body))) {
      const { parts, reply } = read(pieces);
      expect(reply).toEqual({ ...PLAIN, ...expected });
      expectSame(parts, reply);
    }
  });
});

it('leaves think tags alone when it is told so', () => {
  const reader = new ReplyReader({ thinkTags: false });
  const parts = reader.push(new TextEncoder().encode(streamOf(text('<think>a</think>b'), STOP)));
  expect(parts).toEqual([{ type: 'text', text: '<think>a</think>b' }]);
});

it('makes ids of nine alphanumerics by itself', () => {
  const reader = new ReplyReader();
  const body = streamOf(toolCalls(call(0, '', 'a', '{}'), call(1, '', 'b', '{}')), CALLED);
  reader.push(new TextEncoder().encode(body));
  const [first, second] = reader.end().reply.calls;
  expect(first?.id).toMatch(/^[A-Za-z0-9]{9}$/);
  expect(second?.id).not.toBe(first?.id);
});

it('asks for another id when one is taken', () => {
  const ids = ['used', 'used', 'free'];
  const reader = new ReplyReader({ newId: () => ids.shift() ?? '' });
  const body = streamOf(toolCalls(call(0, '', 'a'), call(1, 'used', 'b'), call(2, '', 'c')), CALLED);
  reader.push(new TextEncoder().encode(body));
  expect(reader.end().reply.calls.map(({ id }) => id)).toEqual(['free', 'used', '']);
});

it('counts events with data, and says when the upstream is done', () => {
  const reader = new ReplyReader();
  const push = (text: string): [number, boolean] => {
    reader.push(new TextEncoder().encode(text));
    return [reader.eventCount, reader.isDone];
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

function read(pieces: readonly Uint8Array[]): { parts: ReplyPart[]; reply: UpstreamReply } {
  let made = 0;
  const reader = new ReplyReader({ newId: () => `generated${++made}` });
  const parts = pieces.flatMap((bytes) => reader.push(bytes));
  const end = reader.end();
  return { parts: [...parts, ...end.parts], reply: end.reply };
}

/** The parts, put together, are the reply. */
function expectSame(parts: readonly ReplyPart[], reply: UpstreamReply): void {
  const joined = (type: 'text' | 'reasoning') =>
    parts.map((part) => (part.type === type ? part.text : '')).join('');
  expect([joined('text'), joined('reasoning')]).toEqual([reply.text, reply.reasoning ?? '']);
  for (const [index, { name, rawArguments }] of reply.calls.entries()) {
    const pieces = parts.filter((part) => part.type === 'call' && part.call === index);
    const names = pieces.flatMap((part) => (part.type === 'call' ? (part.name ?? []) : []));
    const raw = pieces.map((part) => (part.type === 'call' ? part.arguments : '')).join('');
    expect([names, raw]).toEqual([name === 'unnamed_tool' ? [] : [name], rawArguments]);
  }
}

function text(content: string): object {
  return chunk({ content });
}

function details(...reasoning_details: readonly object[]): object {
  return chunk({ content: '', reasoning_details });
}

function failed(error: UpstreamReply['error']): Partial<UpstreamReply> {
  return { outcome: 'error', finishReason: null, error };
}

function called(...calls: UpstreamReply['calls']): Partial<UpstreamReply> {
  return { finishReason: 'tool_calls', calls };
}

type Call = UpstreamReply['calls'][number];

function ran(id: string, name: string, rawArguments: string): Call {
  return { id, name, rawArguments, arguments: JSON.parse(rawArguments), mayExecute: true };
}

function refused(id: string, name: string, rawArguments: string, problem: string): Call {
  return { id, name, rawArguments, arguments: null, mayExecute: false, problem };
}
