import { describe, expect, it } from 'vitest';
import { ReplyReader, type UpstreamReply } from '../reader.ts';
import { expectReply, type ReplyCase } from './reply-case.ts';
import { call, chunk, DONE, finish, streamOf, toolCalls } from './splits.ts';

const STOP = finish('stop');
const CALLED = finish('tool_calls');

const CALLS: readonly ReplyCase[] = [
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
    streamOf(
      toolCalls(call(0, 'c1', 'a', '{}')),
      text('\n'),
      text('and'),
      toolCalls(call(1, 'c2', 'b', '{}')),
      CALLED,
    ),
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
      toolCalls({
        ...call(0, 'c1', 'a', '{}'),
        extra_content: { google: { thought_signature: 's' } },
      }),
      toolCalls({ index: 0, note: null, function: {} }),
      CALLED,
    ),
    called({
      ...ran('c1', 'a', '{}'),
      extra: { extra_content: { google: { thought_signature: 's' } } },
    }),
  ],
  [
    'halves of a character in two fragments are one character',
    streamOf(
      toolCalls(call(0, 'c1', 'a', '{"t":"\ud83d')),
      toolCalls(call(0, 'c1', 'a', '\ude00"}')),
      CALLED,
    ),
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
    'a function_call that holds nothing is none',
    streamOf(chunk({ content: 'a', function_call: { name: '', arguments: '' } }), STOP),
    { text: 'a' },
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
    streamOf(
      chunk({ executed_tools: [{ index: 0, type: 'search', arguments: '{}' }] }),
      text('a'),
      STOP,
    ),
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

const CUT_CALLS: readonly ReplyCase[] = [
  [
    'after the token limit no call runs, not even a whole one',
    streamOf(
      toolCalls(call(0, 'c1', 'a', '{}'), call(1, 'c2', 'b', '{"x":')),
      finish('length'),
      DONE,
    ),
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
      outcome: 'error',
      error: { message: 'm', code: null, type: null, status: null },
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
  ['calls', CALLS],
  ['calls of answers that were cut', CUT_CALLS],
])('%s', (_, cases) => {
  it.each(cases)('%s', (__, body, expected) => expectReply(body, expected));
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
  const reader = new ReplyReader({ newId: () => ids.shift() ?? 'none' });
  reader.push(
    new TextEncoder().encode(streamOf(toolCalls(call(0, '', 'a'), call(1, 'used', 'b')))),
  );
  expect(reader.end().reply.calls.map(({ id }) => id)).toEqual(['free', 'used']);
});

function text(content: string): object {
  return chunk({ content });
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
