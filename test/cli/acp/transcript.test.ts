import type { SessionUpdate } from '@agentclientprotocol/sdk';
import { expect, it } from 'vitest';
import { EditorTranscript } from '../../../cli/acp/transcript.ts';
import type { ConversationView, StreamEvent } from '../../../client/index.ts';
import { foldConversation } from '../../../shared/wire/fold.ts';
import { CONVERSATION_ID, RESPONSE_ID, SAMPLE_TAPE } from '../../client/sample-tape.ts';

function newView(): ConversationView {
  return {
    id: CONVERSATION_ID,
    title: '',
    archived: false,
    created: '2026-01-01T00:00:00.000Z',
    bridgeId: null,
    messages: [],
    responses: [],
    earlier: null,
    position: 0,
  };
}

/** Folds the events, and takes what is new after each of them, or after the last one alone. */
function follow(events: readonly StreamEvent[], how: 'each' | 'last'): SessionUpdate[] {
  const view = newView();
  const transcript = new EditorTranscript('/work');
  return events.flatMap((event, at) => {
    foldConversation(view, event);
    const isTaken = how === 'each' || at === events.length - 1;
    return isTaken ? transcript.take(view, how === 'each' ? event : null) : [];
  });
}

/** What an editor shows after the updates: joined chunks, and the last state of each call. */
function shown(updates: readonly SessionUpdate[]) {
  const parts = new Map<string, object>();
  for (const update of updates) {
    if ('content' in update && 'messageId' in update) {
      const { messageId, content, sessionUpdate } = update;
      const before = Object(parts.get(`${messageId}`)).text ?? '';
      const text = before + (content.type === 'text' ? content.text : '');
      parts.set(`${messageId}`, { sessionUpdate, text });
    } else if ('toolCallId' in update) {
      const { sessionUpdate: _, toolCallId, ...rest } = update;
      expect(parts.has(toolCallId)).toBe(update.sessionUpdate === 'tool_call_update');
      parts.set(toolCallId, { ...parts.get(toolCallId), ...rest });
    }
  }
  return [...parts];
}

it('shows the same whether it sees each event or only what became of them', () => {
  const live = shown(follow(SAMPLE_TAPE, 'each'));
  expect(live).toEqual(shown(follow(SAMPLE_TAPE, 'last')));
  expect(live.length).toBeGreaterThan(2);
});

const start = (id: string, sequence: number, type: 'text' | 'reasoning'): StreamEvent => ({
  type: 'document_start',
  document: { id, type, sequence, metadata: {} },
});
const delta = (documentId: string, text: string): StreamEvent => ({
  type: 'content_delta',
  documentId,
  delta: text,
});
const BEGIN = SAMPLE_TAPE.filter(({ type }) => type === 'message' || type === 'response_start');

it('makes one message of texts in a row, and another of what a crash has put in their place', () => {
  const updates = follow(
    [
      ...BEGIN,
      start('doc_001', 1, 'reasoning'),
      delta('doc_001', 'Hm.'),
      start('doc_002', 2, 'text'),
      delta('doc_002', 'One.'),
      start('doc_003', 3, 'text'),
      delta('doc_003', 'Tw'),
      { type: 'document_end', documentId: 'doc_003', metadata: { interrupted: true } },
      start('doc_004', 4, 'text'),
      delta('doc_004', 'Two.'),
    ],
    'each',
  );
  expect(shown(updates).slice(1)).toEqual([
    [`${RESPONSE_ID}/doc_001`, { sessionUpdate: 'agent_thought_chunk', text: 'Hm.' }],
    [`${RESPONSE_ID}/doc_002`, { sessionUpdate: 'agent_message_chunk', text: 'One.\n\nTw' }],
    [`${RESPONSE_ID}/doc_004`, { sessionUpdate: 'agent_message_chunk', text: 'Two.' }],
  ]);
});

it('keeps the todos as a plan', () => {
  const todos = [
    { id: 'a', content: 'First', status: 'completed' },
    { id: 'b', content: 'Second', status: 'in_progress' },
    { id: 'c', content: 'Never', status: 'cancelled' },
  ];
  const updates = follow(
    [
      ...BEGIN,
      {
        type: 'document_start',
        document: { id: 'doc_001', type: 'todo_update', sequence: 1, metadata: {} },
      },
      { type: 'document_end', documentId: 'doc_001', metadata: { todos } },
    ],
    'each',
  );
  expect(updates.filter(({ sessionUpdate }) => sessionUpdate === 'plan')).toEqual([
    {
      sessionUpdate: 'plan',
      entries: [
        { content: 'First', status: 'completed', priority: 'medium' },
        { content: 'Second', status: 'in_progress', priority: 'medium' },
      ],
    },
  ]);
});
