/** `chat`: messages and responses. */
import { Cancelled } from '../../shared/answers.ts';
import { ChatResponse } from '../../shared/documents.ts';
import { StreamEvent } from '../../shared/events.ts';
import { ResponseId } from '../../shared/ids.ts';
import { AnyResponse } from '../../shared/plain-documents.ts';
import {
  ChatRequest,
  Cursor,
  EventsQuery,
  IdempotencyKey,
  MessagePatch,
  PlanRequest,
} from '../../shared/requests.ts';
import { CHAT_REQUEST, PLAN_REQUEST, STREAMS } from './examples.ts';
import {
  type Answer,
  describeQuery,
  type Header,
  jsonAnswer,
  type Operation,
} from './operation.ts';

const CURSOR = {
  type: 'integer',
  minimum: 0,
  maximum: Number.MAX_SAFE_INTEGER,
} as const;

/** What every `events` path reads. */
export const EVENTS_QUERY = describeQuery({
  schema: EventsQuery,
  described: {
    after: {
      description: 'The id of the last event seen: what follows it is sent.',
      schema: CURSOR,
    },
    framing: { description: 'Named events, or unnamed ones with their type inside the data.' },
  },
});

/** What a browser's EventSource sends by itself. */
export const LAST_EVENT_ID: Header = {
  name: 'Last-Event-ID',
  description: 'The id of the last event seen; it wins over the query’s `after`.',
  zod: Cursor,
  schema: CURSOR,
};

const IDEMPOTENCY_KEY: Header = {
  name: 'Idempotency-Key',
  description:
    'The same key with the same body leads to the same response, which is begun once; with another body it is refused.',
  zod: IdempotencyKey,
};

export const EVENTS = {
  type: 'text/event-stream',
  events: StreamEvent,
  examples: STREAMS,
} as const;

/** The same events for `Upgrade: websocket`. */
export const EVENTS_SOCKET: Answer = {
  status: 101,
  description:
    'With `Upgrade: websocket`: each message is a JSON array of `{"event", "position"}`, the position null for a heartbeat. The client acknowledges with `{"ack": position}`, and sends nothing else.',
};

const RESPONSE_PARAMS = {
  id: { description: 'A response.', zod: ResponseId },
} as const;

const ANSWERED: Answer = {
  status: 200,
  description:
    'The response when it has ended, or when all that is under way waits for a person; as a stream with `"stream": true` or `Accept: text/event-stream`.',
  headers: {
    'Drawbridge-Conversation-Id': 'The conversation, also where this message began it.',
    'Drawbridge-Response-Id': 'The response, known before its first event.',
  },
  content: [{ type: 'application/json', schema: AnyResponse }, EVENTS],
};

const SUBMIT_ERRORS = [
  'NOT_FOUND',
  'UNKNOWN_MODEL',
  'IMAGES_NOT_SUPPORTED',
  'CONVERSATION_BUSY',
  'CONVERSATION_FULL',
  'IDEMPOTENCY_CONFLICT',
] as const;

export const CHAT_OPERATIONS: readonly Operation[] = [
  {
    id: 'createResponse',
    method: 'post',
    path: '/api/v1/chat/completions',
    tag: 'Chat',
    summary: 'Send a message',
    description:
      'Without `conversationId` a conversation begins; with it the messages are appended to it. The last message must be the user’s and not empty.',
    access: 'user',
    headers: [IDEMPOTENCY_KEY],
    body: { schema: ChatRequest, example: CHAT_REQUEST },
    answers: [ANSWERED],
    errors: SUBMIT_ERRORS,
  },
  {
    id: 'createPlan',
    method: 'post',
    path: '/api/v1/chat/plan',
    tag: 'Chat',
    summary: 'Ask for a plan',
    description: 'The same as a message in the mode `plan`, in which nothing is changed.',
    access: 'user',
    headers: [IDEMPOTENCY_KEY],
    body: { schema: PlanRequest, example: PLAN_REQUEST },
    answers: [ANSWERED],
    errors: SUBMIT_ERRORS,
  },
  {
    id: 'getResponse',
    method: 'get',
    path: '/api/v1/chat/completions/{id}',
    tag: 'Chat',
    summary: 'The response as it is now',
    access: 'user',
    params: RESPONSE_PARAMS,
    answers: [jsonAnswer(200, 'The response.', ChatResponse)],
    errors: ['NOT_FOUND'],
  },
  {
    id: 'followResponse',
    method: 'get',
    path: '/api/v1/chat/completions/{id}/events',
    tag: 'Chat',
    summary: 'The events of a response',
    description:
      'From the cursor on, up to `done`. A stream may end before: come back with the cursor.',
    access: 'stream',
    params: RESPONSE_PARAMS,
    query: EVENTS_QUERY,
    headers: [LAST_EVENT_ID],
    answers: [
      EVENTS_SOCKET,
      { status: 200, description: 'The events.', content: [EVENTS] },
      { status: 204, description: 'The response has ended, and the cursor is its last event.' },
    ],
    errors: ['NOT_FOUND', 'INVALID_CURSOR'],
  },
  {
    id: 'editMessage',
    method: 'patch',
    path: '/api/v1/chat/completions/{id}',
    tag: 'Chat',
    summary: 'Change a message that still waits',
    description: 'It is named by the response it asks for. To take it back, cancel that response.',
    access: 'user',
    params: RESPONSE_PARAMS,
    body: { schema: MessagePatch, example: { content: 'And a test for it, please.' } },
    answers: [jsonAnswer(200, 'The response goes on waiting.', Cancelled)],
    errors: ['NOT_FOUND', 'ALREADY_STARTED'],
  },
  {
    id: 'cancelResponse',
    method: 'post',
    path: '/api/v1/chat/completions/{id}/cancel',
    tag: 'Chat',
    summary: 'End a run',
    description: 'A response that has ended stays as it ended.',
    access: 'user',
    params: RESPONSE_PARAMS,
    answers: [
      jsonAnswer(
        200,
        'Its status at this moment; `done` says how the run really ended.',
        Cancelled,
      ),
    ],
    errors: ['NOT_FOUND'],
  },
];
