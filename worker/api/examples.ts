/** Examples in the OpenAPI document. The same code that writes real streams writes the example streams. */

import type { Framing } from '../../shared/api/requests.ts';
import { formatEvent } from '../../shared/api/sse.ts';
import type { StreamEvent } from '../../shared/wire/events.ts';
import { widthOf } from '../../shared/wire/events.ts';

export const CONVERSATION_ID = 'conv_4f6c1b9e-6a0d-4c1e-9d6b-3c2f5a7e0000';
export const RESPONSE_ID = 'chat_4f6c1b9e-6a0d-4c1e-9d6b-3c2f5a7e0001';

/** Of a device, a machine or a passkey. */
export const PUBLIC_KEY = {
  kty: 'EC',
  crv: 'P-256',
  x: 'f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU',
  y: 'x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0',
} as const;

const CREATED = '2026-11-01T09:30:00.000Z';

export const CHAT_REQUEST = {
  messages: [{ role: 'user', content: 'What does main.py print?' }],
  mode: 'ask',
  stream: true,
};

export const PLAN_REQUEST = {
  messages: [{ role: 'user', content: 'Plan how main.py could greet in two languages.' }],
};

/** One short response, from the message to `done`, in both framings. */
export const STREAMS = {
  named: { summary: 'Named events, the default', value: streamIn('named') },
  data: { summary: 'Unnamed events, framing=data', value: streamIn('data') },
} as const;

function streamIn(framing: Framing): string {
  let position = 0;
  let text = 'retry: 100\n\n';
  for (const event of sampleEvents()) {
    if (event.type === 'heartbeat' || event.type === 'snapshot') continue;
    position += widthOf(event);
    text += formatEvent(event, position, framing);
  }
  return text;
}

function sampleEvents(): readonly StreamEvent[] {
  const documentId = 'doc_001';
  return [
    {
      type: 'message',
      message: { responseId: RESPONSE_ID, content: 'What does main.py print?', created: CREATED },
    },
    {
      type: 'response_start',
      response: {
        id: RESPONSE_ID,
        conversationId: CONVERSATION_ID,
        model: 'gpt-5.2',
        mode: 'ask',
        created: CREATED,
      },
    },
    {
      type: 'document_start',
      document: { id: documentId, type: 'text', sequence: 1, metadata: { format: 'markdown' } },
    },
    { type: 'content_delta', documentId, delta: 'It prints ' },
    { type: 'content_delta', documentId, delta: '`Hello`.' },
    { type: 'document_end', documentId, finalContent: 'It prints `Hello`.' },
    {
      type: 'done',
      responseId: RESPONSE_ID,
      status: 'completed',
      usage: { promptTokens: 1830, completionTokens: 12, totalTokens: 1842 },
      metadata: { duration_ms: 940, toolCallCount: 0, turnCount: 1 },
    },
  ];
}
