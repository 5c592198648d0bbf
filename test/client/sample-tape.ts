/** A small finished response with a bit of everything that a reader folds. */
import type { ApprovalQuestion } from '../../shared/wire/approvals.ts';
import type { TapeEvent } from '../../shared/wire/events.ts';

const UUID = '00000000-0000-4000-8000-00000000';
export const CONVERSATION_ID = `conv_${UUID}0000`;
export const RESPONSE_ID = `chat_${UUID}0001`;
export const CALL_ID = `call_${UUID}0002`;
export const BRIDGE_ID = `bridge_${UUID}0003`;
const CREATED = '2026-11-20T12:00:00Z';

export const SAMPLE_TAPE: readonly TapeEvent[] = [
  { type: 'message', message: { responseId: RESPONSE_ID, content: 'Hé 👋', created: CREATED } },
  {
    type: 'response_start',
    response: {
      id: RESPONSE_ID,
      conversationId: CONVERSATION_ID,
      model: 'demo',
      mode: 'agent',
      created: CREATED,
    },
  },
  { type: 'document_start', document: { id: 'doc_001', type: 'text', sequence: 1 } },
  { type: 'content_delta', documentId: 'doc_001', delta: 'Grüße ' },
  { type: 'content_delta', documentId: 'doc_001', delta: '👋\n\n' },
  { type: 'content_delta', documentId: 'doc_001', delta: 'data: id: 7' },
  { type: 'document_end', documentId: 'doc_001', metadata: { format: 'markdown' } },
  {
    type: 'document_start',
    document: {
      id: 'doc_002',
      type: 'terminal_command',
      sequence: 2,
      metadata: { command: 'npm test' },
    },
  },
  { type: 'tool_output', documentId: 'doc_002', delta: 'ok\n' },
  { type: 'tool_output', documentId: 'doc_002', delta: '1 passed' },
  {
    type: 'document_end',
    documentId: 'doc_002',
    metadata: { exitCode: 0, output: 'ok\n1 passed' },
  },
  {
    type: 'done',
    responseId: RESPONSE_ID,
    status: 'completed',
    usage: { promptTokens: 10, completionTokens: 5, totalTokens: 15 },
    metadata: { duration_ms: 12, toolCallCount: 1, turnCount: 2 },
  },
];

/** A question as a device gets it. */
export const QUESTION = {
  bridgeId: BRIDGE_ID,
  nonce: 'n-1',
  callId: CALL_ID,
  conversationId: CONVERSATION_ID,
  proposal: { kind: 'call', tool: 'write', arguments: { path: 'ä.md', contents: '1' } },
} satisfies ApprovalQuestion;
