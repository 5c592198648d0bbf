import { expect, it } from 'vitest';
import {
  type AnthropicBlock,
  anthropicFrames,
  eventFrame,
} from '../../../../test/far-ends/native-events.ts';
import { AnthropicReader } from '../../dialects/anthropic/events.ts';
import { readWholeReply } from '../../reader.ts';
import { expectReply, type ReplyCase } from '../reply-case.ts';

const THINKING: AnthropicBlock = { type: 'thinking', thinking: 'Hm 😀.', signature: 'sig=' };
const HIDDEN: AnthropicBlock = { type: 'redacted_thinking', data: 'xyz' };
const TEXT: AnthropicBlock = { type: 'text', text: 'I look.' };
const READ: AnthropicBlock = {
  type: 'tool_use',
  id: 'toolu_1',
  name: 'read',
  input: { path: 'a' },
};
const LIST: AnthropicBlock = { type: 'tool_use', id: 'toolu_2', name: 'list', input: {} };

const USAGE = { promptTokens: 11, completionTokens: 7, totalTokens: 18 };
const ENDED = { finishReason: 'end_turn', usage: USAGE };

const called = (id: string, name: string, args: Record<string, unknown>, rawArguments: string) => ({
  id,
  name,
  arguments: args,
  rawArguments,
  mayExecute: true,
});
const READ_CALL = called('toolu_1', 'read', { path: 'a' }, '{"path":"a"}');

function thought(item: AnthropicBlock, place: number) {
  return { dialect: 'anthropic', model: 'claude', place, item };
}

/** The frames without those from the one with `type` on. */
function until(type: string, frames: readonly string[]): string {
  return frames
    .slice(
      0,
      frames.findIndex((frame) => frame.includes(`"${type}"`)),
    )
    .join('');
}

function errorFrame(type: string, message: string): string {
  return eventFrame({ type: 'error', error: { type, message } });
}

const CASES: readonly ReplyCase[] = [
  ['text', anthropicFrames([TEXT]).join(''), { ...ENDED, text: 'I look.' }],
  [
    'thoughts, text and two calls at once',
    anthropicFrames([THINKING, HIDDEN, TEXT, READ, LIST], 'tool_use').join(''),
    {
      finishReason: 'tool_use',
      usage: USAGE,
      text: 'I look.',
      reasoning: 'Hm 😀.',
      calls: [READ_CALL, called('toolu_2', 'list', {}, '{}')],
      reasoningDetails: [thought(THINKING, 0), thought(HIDDEN, 0)],
    },
  ],
  [
    'thoughts behind the text and between calls keep their places',
    anthropicFrames([TEXT, THINKING, READ, HIDDEN, LIST], 'tool_use').join(''),
    {
      finishReason: 'tool_use',
      usage: USAGE,
      text: 'I look.',
      reasoning: 'Hm 😀.',
      calls: [READ_CALL, called('toolu_2', 'list', {}, '{}')],
      reasoningDetails: [thought(THINKING, 1), thought(HIDDEN, 2)],
    },
  ],
  [
    'tokens read from the cache and written to it are part of the prompt',
    anthropicFrames([TEXT], 'end_turn', {
      input_tokens: 1,
      cache_read_input_tokens: 100,
      cache_creation_input_tokens: 10,
    }).join(''),
    {
      finishReason: 'end_turn',
      text: 'I look.',
      usage: {
        promptTokens: 111,
        completionTokens: 7,
        totalTokens: 118,
        cachedPromptTokens: 100,
        cacheWriteTokens: 10,
      },
    },
  ],
  [
    'the tools of the server are no calls',
    anthropicFrames([TEXT])
      .join('')
      .replace(
        '"content_block":{"type":"text","text":""}',
        '"content_block":{"type":"server_tool_use","id":"s","name":"web_search","input":{}}',
      ),
    { ...ENDED, text: 'I look.' },
  ],
  [
    'text behind a tool of the server begins a paragraph, and so do thoughts',
    anthropicFrames([THINKING, TEXT, LIST, TEXT, THINKING, HIDDEN, THINKING])
      .join('')
      .replace('"type":"tool_use","id":"toolu_2"', '"type":"server_tool_use","id":"s"'),
    {
      ...ENDED,
      text: 'I look.\n\nI look.',
      reasoning: 'Hm 😀.Hm 😀.\n\nHm 😀.',
      reasoningDetails: [
        ...[thought(THINKING, 0), thought(THINKING, 1), thought(HIDDEN, 1)],
        thought(THINKING, 1),
      ],
    },
  ],
  [
    'a text that citations cut into blocks goes on',
    anthropicFrames([TEXT, TEXT]).join(''),
    { ...ENDED, text: 'I look.I look.' },
  ],
  [
    'the token limit lets no call run',
    anthropicFrames([TEXT, READ], 'max_tokens').join(''),
    {
      outcome: 'truncated',
      finishReason: 'max_tokens',
      usage: USAGE,
      text: 'I look.',
      calls: [{ ...READ_CALL, mayExecute: false, problem: expect.stringContaining('token limit') }],
    },
  ],
  [
    'a refusal is filtered',
    anthropicFrames([], 'refusal').join(''),
    { outcome: 'filtered', finishReason: 'refusal', usage: USAGE },
  ],
  [
    'a pause of the tools of the server is no end',
    anthropicFrames([TEXT], 'pause_turn').join(''),
    { outcome: 'interrupted', finishReason: 'pause_turn', usage: USAGE, text: 'I look.' },
  ],
  ['an answer may be empty', anthropicFrames([]).join(''), ENDED],
  [
    'an overload in the middle',
    until('message_delta', anthropicFrames([TEXT])) + errorFrame('overloaded_error', 'Overloaded'),
    {
      outcome: 'error',
      text: 'I look.',
      usage: { promptTokens: 11, completionTokens: 0, totalTokens: 11 },
      error: { message: 'Overloaded', type: 'overloaded_error', code: null, status: null },
    },
  ],
  [
    'the same beginning twice',
    anthropicFrames([])[0] + anthropicFrames([TEXT]).join(''),
    { ...ENDED, text: 'I look.' },
  ],
  [
    'the beginning of another answer in the middle of a call',
    until('content_block_stop', anthropicFrames([READ])) +
      anthropicFrames([READ], 'tool_use').join('').replace('"msg_1"', '"msg_2"'),
    {
      outcome: 'error',
      usage: { promptTokens: 11, completionTokens: 0, totalTokens: 11 },
      calls: [{ ...READ_CALL, mayExecute: false, problem: expect.stringContaining('broke off') }],
      error: {
        message: 'The model server began another answer within this one.',
        type: 'api_error',
        code: null,
        status: null,
      },
    },
  ],
  [
    'an error without the name of its event',
    errorFrame('overloaded_error', 'Overloaded').replace('event: error\n', ''),
    {
      outcome: 'error',
      error: { message: 'Overloaded', type: 'overloaded_error', code: null, status: null },
    },
  ],
  [
    'a connection that breaks in a call',
    until('message_delta', anthropicFrames([THINKING, READ])),
    {
      outcome: 'interrupted',
      reasoning: 'Hm 😀.',
      usage: { promptTokens: 11, completionTokens: 0, totalTokens: 11 },
      calls: [{ ...READ_CALL, mayExecute: false, problem: expect.stringContaining('broke off') }],
      reasoningDetails: [thought(THINKING, 0)],
    },
  ],
  [
    'thoughts that broke off have no signature and are not kept',
    until('signature_delta', anthropicFrames([THINKING])),
    {
      outcome: 'interrupted',
      reasoning: 'Hm 😀.',
      usage: { promptTokens: 11, completionTokens: 0, totalTokens: 11 },
    },
  ],
  [
    'nothing behind message_stop counts',
    anthropicFrames([TEXT]).join('') + anthropicFrames([TEXT], 'max_tokens').join(''),
    { ...ENDED, text: 'I look.' },
  ],
  [
    'garbage between events is skipped',
    `data: hm\n\n${eventFrame({ type: 'later_event' })}data: {"type":7}\n\n${anthropicFrames([TEXT]).join('')}`,
    { ...ENDED, text: 'I look.' },
  ],
  [
    'half an event is an error',
    `${until('content_block_stop', anthropicFrames([TEXT]))}data: {"type":\n\n`,
    {
      outcome: 'error',
      text: 'I look.',
      usage: { promptTokens: 11, completionTokens: 0, totalTokens: 11 },
      error: expect.objectContaining({ message: expect.stringContaining('not JSON') }),
    },
  ],
  ['another dialect is no answer', 'data: {"choices":[]}\n\n', { outcome: 'interrupted' }],
];

it.each(CASES)('at every split, %s', (_, body, expected) => {
  const finishReason = expected.finishReason ?? null;
  expectReply(body, { finishReason, ...expected }, () => new AnthropicReader('claude'));
});

const TOO_LARGE = 'The answer is too large.';

it('bounds the blocks', () => {
  const begun = { type: 'content_block_start', content_block: READ };
  const reader = new AnthropicReader('claude');
  expect(reader.read({ ...begun, index: 10_000 }).error).toBeNull();
  expect(reader.read({ ...begun, index: 10_001 }).error?.message).toBe(TOO_LARGE);
});

it('bounds thoughts that never end', () => {
  const reader = new AnthropicReader('claude');
  const hidden = { type: 'redacted_thinking', data: 'x'.repeat(1_000_000) };
  const chunks = Array.from({ length: 5 }, (_, index) =>
    reader.read({ type: 'content_block_start', index, content_block: hidden }),
  );
  expect(chunks.map(({ error }) => error?.message)).toEqual([
    ...Array(4).fill(undefined),
    TOO_LARGE,
  ]);
});

it('bounds the signatures, which no part shows', () => {
  const reader = new AnthropicReader('claude');
  const delta = { type: 'signature_delta', signature: 'x'.repeat(3_000_000) };
  reader.read({ type: 'content_block_start', index: 0, content_block: THINKING });
  const event = { type: 'content_block_delta', index: 0, delta };
  expect(reader.read(event).error).toBeNull();
  expect(reader.read(event)).toMatchObject({ error: { message: TOO_LARGE }, isLast: true });
  expect(reader.read({ type: 'content_block_stop', index: 0 }).reasoningDetails).toEqual([]);
});

const read = (status: number, body: object) =>
  readWholeReply(status, 'application/json', JSON.stringify(body), {
    reader: new AnthropicReader('claude'),
  });

it('a body that is no stream can be a whole message', () => {
  const content = [THINKING, TEXT, READ];
  const usage = { input_tokens: 11, output_tokens: 7 };
  const { reply, parts } = read(200, {
    type: 'message',
    content,
    stop_reason: 'tool_use',
    usage,
  });
  expect(reply).toMatchObject({
    outcome: 'completed',
    text: 'I look.',
    reasoning: 'Hm 😀.',
    usage: USAGE,
    calls: [READ_CALL],
    reasoningDetails: [thought(THINKING, 0)],
  });
  expect(parts.map(({ type }) => type)).toEqual(['reasoning', 'text', 'call']);
});

it.each([
  [400, 'invalid_request_error', 'prompt is too long: 9 tokens', 'CONTEXT_LENGTH_EXCEEDED'],
  [400, 'invalid_request_error', '`max_tokens` exceed context limit', 'CONTEXT_LENGTH_EXCEEDED'],
  [529, 'overloaded_error', 'Overloaded', null],
  [200, 'api_error', 'Internal server error', null],
])('a body that is no stream can be an error (%i %s)', (status, type, message, code) => {
  const { reply } = read(status, { type: 'error', error: { type, message }, request_id: 'r' });
  expect(reply).toMatchObject({ outcome: 'error', error: { type, message, code } });
});
