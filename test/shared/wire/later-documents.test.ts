import { expect, it } from 'vitest';
import { newConversationId, responseIdOf } from '../../../shared/ids.ts';
import { ConversationView } from '../../../shared/wire/documents.ts';
import { StreamEvent } from '../../../shared/wire/events.ts';
import { foldConversation } from '../../../shared/wire/fold.ts';
import { parseNamedEvent } from '../../named-event.ts';

const conversationId = newConversationId('4f6c1b9e-6a0d-4c1e-9d6b-3c2f5a7e0000');
const LATER = {
  id: 'doc_001',
  type: 'diagram',
  sequence: 1,
  content: 'a -> b',
  metadata: { x: 1 },
};
const TEXT = { id: 'doc_002', type: 'text', sequence: 2, content: 'So.', metadata: {} };
const RESPONSE = {
  id: responseIdOf(conversationId, 1),
  conversationId,
  model: 'm',
  mode: 'agent',
  created: '2026-11-20T12:00:00Z',
  status: 'streaming',
  usage: null,
  documents: [LATER, TEXT],
  metadata: { duration_ms: 1, toolCallCount: 0, turnCount: 1 },
};
const VIEW = {
  id: conversationId,
  title: 'T',
  archived: false,
  created: RESPONSE.created,
  bridgeId: null,
  messages: [],
  responses: [RESPONSE],
  earlier: null,
  position: 12,
};

it('a snapshot keeps a document of a type that a later version has, and all around it', () => {
  const event = { type: 'snapshot', snapshot: { scope: 'conversation', conversation: VIEW } };
  const read = parseNamedEvent('snapshot', JSON.stringify(event.snapshot));
  const view = ConversationView.parse({ ...VIEW, responses: [] });
  if (read) foldConversation(view, read);
  expect(view).toEqual(VIEW);
});

it('a stream keeps it too, with its text', () => {
  const view = ConversationView.parse({ ...VIEW, responses: [{ ...RESPONSE, documents: [] }] });
  const { content, ...document } = LATER;
  for (const event of [
    { type: 'document_start', document },
    { type: 'content_delta', documentId: LATER.id, delta: content },
    { type: 'document_end', documentId: LATER.id, metadata: { y: 2 } },
  ]) {
    foldConversation(view, StreamEvent.parse(event));
  }
  expect(view.responses[0]?.documents[0]?.content).toBe(content);
  const other = { id: 'doc_002', type: 'diagram', sequence: 2 };
  foldConversation(view, StreamEvent.parse({ type: 'document_start', document: other }));
  expect(view.responses[0]?.documents.pop()?.content).toBe(null);
  const metadata = { x: 1, y: 2 };
  expect(view.responses[0]?.documents).toEqual([{ ...LATER, metadata }]);
});
