import { describe, expect, it } from 'vitest';
import { TAPE_LIMITS } from '../../../worker/conversation/tape/limits.ts';
import { FOLLOW_LIMITS } from '../../../worker/follow/limits.ts';
import { ask, call, chat, scriptModel } from '../api.ts';
import { type RawEvent, SseReader } from './sse-reader.ts';

const TEXT = 'Hello "wörld" 😀';
const CREATED = '2026-11-20T00:00:00.000Z';
const FIRST = TAPE_LIMITS.jump;

interface Stream {
  readonly responseId: string;
  readonly conversationId: string;
  readonly reader: SseReader;
}

async function stream(framing: 'named' | 'data'): Promise<Stream> {
  scriptModel(() => ({ text: TEXT, chunkChars: 100 }));
  const response = await ask('hi', { stream: true, stream_options: { framing } });
  const reader = new SseReader(response);
  return {
    responseId: response.headers.get('drawbridge-response-id') ?? '',
    conversationId: response.headers.get('drawbridge-conversation-id') ?? '',
    reader,
  };
}

/** The frames with what varies replaced, positions counted from the tape's beginning. */
function tidy(raw: readonly RawEvent[], { responseId, conversationId }: Stream): unknown[] {
  return raw.map(({ event, id, data }) => ({
    ...(event !== undefined && { event }),
    ...(id !== undefined && { id: Number(id) - FIRST }),
    data:
      data === '[DONE]'
        ? data
        : JSON.parse(
            data
              .replaceAll(responseId, 'RESPONSE')
              .replaceAll(conversationId, 'CONVERSATION')
              .replaceAll(/"created":"[^"]*"/g, `"created":"${CREATED}"`)
              .replaceAll(/"duration_ms":\d+/g, '"duration_ms":5')
              .replaceAll(/"rows":\d+/g, '"rows":8'),
          ),
  }));
}

const end = 3 + TEXT.length;
const usage = { promptTokens: 11, completionTokens: 7, totalTokens: 18 };
const metadata = {
  duration_ms: 5,
  toolCallCount: 0,
  turnCount: 1,
  contextTokens: 18,
  lastPrompt: { tokens: 11 },
  rows: 8,
};
const message = { responseId: 'RESPONSE', content: 'hi', created: CREATED };
const response = {
  id: 'RESPONSE',
  conversationId: 'CONVERSATION',
  model: 'scripted',
  mode: 'agent',
  created: CREATED,
};
const done = { responseId: 'RESPONSE', status: 'completed', usage, metadata };

const NAMED = [
  { event: 'message', id: 1, data: message },
  { event: 'response_start', id: 2, data: response },
  {
    event: 'document_start',
    id: 3,
    data: { id: 'doc_001', type: 'text', sequence: 1, metadata: { format: 'markdown' } },
  },
  { event: 'content_delta', id: end, data: { documentId: 'doc_001', delta: TEXT } },
  { event: 'document_end', id: end + 1, data: { documentId: 'doc_001', finalContent: TEXT } },
  { event: 'done', id: end + 2, data: done },
];

const DATA = [
  { id: 1, data: { type: 'message', message } },
  { id: 2, data: { type: 'response_start', response } },
  {
    id: 3,
    data: {
      type: 'document_start',
      document: { format: 'markdown', id: 'doc_001', type: 'text', sequence: 1 },
    },
  },
  { id: end, data: { type: 'content_delta', documentId: 'doc_001', delta: TEXT } },
  { id: end + 1, data: { type: 'document_end', documentId: 'doc_001', finalContent: TEXT } },
  { id: end + 2, data: { type: 'done', ...done } },
  { data: '[DONE]' },
];

describe.each([
  ['named', NAMED],
  ['data', DATA],
] as const)('in the framing %s', (framing, expected) => {
  it('a new response streams exactly these events, and ends', async () => {
    const streamed = await stream(framing);
    while (await streamed.reader.readOnce());
    expect(streamed.reader.retryMs).toBe(FOLLOW_LIMITS.retryMs);
    expect(joinDeltas(tidy(streamed.reader.raw, streamed))).toEqual(expected);
  });

  it('a response that has finished is sent again from its beginning', async () => {
    const streamed = await stream(framing);
    while (await streamed.reader.readOnce());
    const again = new SseReader(
      await call(`chat/completions/${streamed.responseId}/events?framing=${framing}`),
    );
    while (await again.readOnce());
    expect(tidy(again.raw, streamed)).toEqual(expected);
  });

  it('a conversation shows the same, and stays open', async () => {
    const streamed = await stream(framing);
    while (await streamed.reader.readOnce());
    const path = `conversations/${streamed.conversationId}/events?framing=${framing}`;
    const follower = new SseReader(await call(path));
    while (follower.raw.length < expected.length) await follower.readOnce();
    expect(tidy(follower.raw, streamed)).toEqual(expected);
    await chat('more', { conversationId: streamed.conversationId });
    while (follower.raw.length < 2 * expected.length) await follower.readOnce();
    await follower.leave();
  });
});

it('streams when only the Accept header asks for it', async () => {
  scriptModel(() => ({ text: 'hi' }));
  const response = await call('chat/completions', {
    body: { messages: [{ role: 'user', content: 'hi' }] },
    headers: { accept: 'text/event-stream' },
  });
  expect(response.headers.get('content-type')).toBe('text/event-stream; charset=utf-8');
  const events = await new SseReader(response).toEnd();
  expect(events.at(-1)?.event.type).toBe('done');
});

it('answers 204 to anyone who has seen a response to its end, by either way of saying so', async () => {
  const { reader, responseId } = await stream('named');
  const last = (await reader.toEnd()).at(-1)?.id;
  const path = `chat/completions/${responseId}/events`;
  expect((await call(`${path}?after=${last}`)).status).toBe(204);
  expect((await call(path, { headers: { 'last-event-id': `${last}` } })).status).toBe(204);
  const before = new SseReader(await call(`${path}?after=${Number(last) - 1}`));
  expect((await before.toEnd()).map(({ event }) => event.type)).toEqual(['done']);
});

/** Live deltas come in as many pieces as the timing makes; joined they are one. */
function joinDeltas(frames: unknown[]): unknown[] {
  type Frame = { data: { delta?: string; type?: string } };
  const joined: Frame[] = [];
  for (const frame of frames as Frame[]) {
    const last = joined.at(-1);
    if (last?.data.delta !== undefined && frame.data.delta !== undefined) {
      joined[joined.length - 1] = {
        ...frame,
        data: { ...frame.data, delta: last.data.delta + frame.data.delta },
      };
    } else joined.push(frame);
  }
  return joined;
}
