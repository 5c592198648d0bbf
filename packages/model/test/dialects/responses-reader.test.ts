import { expect, it } from 'vitest';
import {
  eventFrame,
  type ResponseItem,
  responseFrames,
} from '../../../../test/far-ends/native-events.ts';
import { ResponsesReader } from '../../dialects/responses/events.ts';
import { readWholeReply } from '../../reader.ts';
import { expectReply, type ReplyCase } from '../reply-case.ts';

const THOUGHT: ResponseItem = {
  type: 'reasoning',
  id: 'rs_1',
  encrypted_content: 'gAAA',
  summary: [
    { type: 'summary_text', text: 'Hm 😀.' },
    { type: 'summary_text', text: 'Aha.' },
  ],
};
const TEXT: ResponseItem = { type: 'message', text: 'I look.' };
const READ: ResponseItem = {
  type: 'function_call',
  call_id: 'call_1',
  name: 'read',
  arguments: '{"path":"a"}',
};
const LIST: ResponseItem = {
  type: 'function_call',
  call_id: 'call_2',
  name: 'list',
  arguments: '{}',
};

const USAGE = {
  promptTokens: 11,
  completionTokens: 7,
  totalTokens: 18,
  cachedPromptTokens: 4,
  reasoningTokens: 2,
};
const ENDED = { finishReason: 'completed', usage: USAGE };
const READ_CALL = {
  id: 'call_1',
  name: 'read',
  arguments: { path: 'a' },
  rawArguments: '{"path":"a"}',
  mayExecute: true,
};
const LIST_CALL = {
  id: 'call_2',
  name: 'list',
  arguments: {},
  rawArguments: '{}',
  mayExecute: true,
};

function thought(place: number) {
  return { dialect: 'responses', model: 'gpt', place, item: THOUGHT };
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

function only(frames: readonly string[], ...types: readonly string[]): string {
  return frames.filter((frame) => types.some((type) => frame.includes(`"${type}"`))).join('');
}

const QUOTA = { code: 'insufficient_quota', message: 'Pay first.' };

const CASES: readonly ReplyCase[] = [
  ['text', responseFrames([TEXT]).join(''), { ...ENDED, text: 'I look.' }],
  [
    'thoughts, text and two calls at once',
    responseFrames([THOUGHT, TEXT, READ, LIST]).join(''),
    {
      ...ENDED,
      text: 'I look.',
      reasoning: 'Hm 😀.\n\nAha.',
      calls: [READ_CALL, LIST_CALL],
      reasoningDetails: [thought(0)],
    },
  ],
  [
    'thoughts behind the text and between calls keep their places',
    responseFrames([TEXT, THOUGHT, READ, THOUGHT, LIST]).join(''),
    {
      ...ENDED,
      text: 'I look.',
      reasoning: 'Hm 😀.\n\nAha.Hm 😀.\n\nAha.',
      calls: [READ_CALL, LIST_CALL],
      reasoningDetails: [thought(1), thought(2)],
    },
  ],
  [
    'each message and each thought is a paragraph of its own, but behind a call',
    responseFrames([THOUGHT, THOUGHT, TEXT, TEXT, READ, TEXT]).join(''),
    {
      ...ENDED,
      text: 'I look.\n\nI look.I look.',
      calls: [READ_CALL],
      reasoning: 'Hm 😀.\n\nAha.\n\nHm 😀.\n\nAha.',
      reasoningDetails: [thought(0), thought(0)],
    },
  ],
  [
    'a summary without its thought is shown and not kept',
    responseFrames([{ ...THOUGHT, encrypted_content: '' }, TEXT]).join(''),
    { ...ENDED, text: 'I look.', reasoning: 'Hm 😀.\n\nAha.' },
  ],
  [
    'items that come only whole',
    only(responseFrames([THOUGHT, TEXT, READ]), 'response.output_item.done', 'response.completed'),
    {
      ...ENDED,
      text: 'I look.',
      reasoning: 'Hm 😀.\n\nAha.',
      calls: [READ_CALL],
      reasoningDetails: [thought(0)],
    },
  ],
  [
    'a refusal is text',
    responseFrames([TEXT])
      .join('')
      .replaceAll('response.output_text.delta', 'response.refusal.delta'),
    { ...ENDED, text: 'I look.' },
  ],
  [
    'the token limit lets no call run',
    responseFrames([TEXT, READ], {
      status: 'incomplete',
      incomplete_details: { reason: 'max_output_tokens' },
    }).join(''),
    {
      outcome: 'truncated',
      finishReason: 'max_output_tokens',
      usage: USAGE,
      text: 'I look.',
      calls: [{ ...READ_CALL, mayExecute: false, problem: expect.stringContaining('token limit') }],
    },
  ],
  [
    'the content filter',
    responseFrames([TEXT], {
      status: 'incomplete',
      incomplete_details: { reason: 'content_filter' },
    }).join(''),
    { outcome: 'filtered', finishReason: 'content_filter', usage: USAGE, text: 'I look.' },
  ],
  [
    'an incomplete answer without a reason',
    responseFrames([TEXT], { status: 'incomplete' }).join(''),
    { outcome: 'truncated', finishReason: 'max_output_tokens', usage: USAGE, text: 'I look.' },
  ],
  ['an answer may be empty', responseFrames([]).join(''), ENDED],
  [
    'usage without numbers is none',
    responseFrames([TEXT], { usage: {} }).join(''),
    { finishReason: 'completed', text: 'I look.' },
  ],
  [
    'counts that no answer can have are none',
    responseFrames([TEXT], { usage: { input_tokens: 2 ** 53 - 1, output_tokens: 1e10 } }).join(''),
    { finishReason: 'completed', text: 'I look.' },
  ],
  [
    'a failure at the end',
    responseFrames([TEXT], { status: 'failed', error: QUOTA }).join(''),
    {
      outcome: 'error',
      finishReason: 'failed',
      usage: USAGE,
      text: 'I look.',
      error: { message: 'Pay first.', code: 'insufficient_quota', type: null, status: null },
    },
  ],
  [
    'a failure without a word',
    responseFrames([], { status: 'failed' }).join(''),
    {
      outcome: 'error',
      finishReason: 'failed',
      usage: USAGE,
      error: expect.objectContaining({ message: expect.stringContaining('without a message') }),
    },
  ],
  [
    'an error in the middle, in both of its forms',
    until('response.output_text.done', responseFrames([TEXT])) +
      eventFrame({ type: 'error', code: 'server_error', message: 'Sorry', param: null }) +
      eventFrame({ type: 'error', error: { type: 'late', message: 'Too late' } }),
    {
      outcome: 'error',
      text: 'I look.',
      error: { message: 'Sorry', code: 'server_error', type: 'error', status: null },
    },
  ],
  [
    'a connection that breaks in a call',
    until('response.function_call_arguments.done', responseFrames([THOUGHT, READ])),
    {
      outcome: 'interrupted',
      reasoning: 'Hm 😀.\n\nAha.',
      calls: [{ ...READ_CALL, mayExecute: false, problem: expect.stringContaining('broke off') }],
      reasoningDetails: [thought(0)],
    },
  ],
  [
    'nothing behind the end counts',
    responseFrames([TEXT]).join('') + responseFrames([TEXT], { status: 'failed' }).join(''),
    { ...ENDED, text: 'I look.' },
  ],
  [
    'garbage between events is skipped',
    `data: hm\n\n${eventFrame({ type: 'response.later' })}data: {"type":7}\n\n${responseFrames([TEXT]).join('')}`,
    { ...ENDED, text: 'I look.' },
  ],
];

it.each(CASES)('at every split, %s', (_, body, expected) => {
  const finishReason = expected.finishReason ?? null;
  expectReply(body, { finishReason, ...expected }, () => new ResponsesReader('gpt'));
});

it('bounds the items', () => {
  const reader = new ResponsesReader('gpt');
  const event = { type: 'response.output_text.delta', delta: 'x' };
  expect(reader.read({ ...event, output_index: 10_000 }).error).toBeNull();
  const { error } = reader.read({ ...event, output_index: 10_001 });
  expect(error?.message).toBe('The answer is too large.');
});

const read = (status: number, body: object) =>
  readWholeReply(status, 'application/json', JSON.stringify(body), {
    reader: new ResponsesReader('gpt'),
  });

it('a body that is no stream can be a whole response', () => {
  const content = [{ type: 'output_text', text: 'I look.' }];
  const output = [THOUGHT, { type: 'message', content }, READ];
  const { reply, parts } = read(200, { object: 'response', status: 'completed', output });
  expect(reply).toMatchObject({
    outcome: 'completed',
    text: 'I look.',
    reasoning: 'Hm 😀.\n\nAha.',
    calls: [READ_CALL],
    reasoningDetails: [thought(0)],
  });
  expect(parts.map(({ type }) => type)).toEqual(['reasoning', 'text', 'call']);
});

it.each([
  [400, 'context_length_exceeded', 'Too long.', 'CONTEXT_LENGTH_EXCEEDED'],
  [400, 'x', 'Your input exceeds the context window of this model.', 'CONTEXT_LENGTH_EXCEEDED'],
  [500, 'server_error', 'Sorry', 'server_error'],
])('a body that is no stream can be an error (%i %s)', (status, code, message, sent) => {
  const { reply } = read(status, { error: { code, message, type: 'x', param: null } });
  expect(reply).toMatchObject({ outcome: 'error', error: { message, code: sent, status } });
});
