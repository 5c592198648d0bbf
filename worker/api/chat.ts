/** `chat`: takes a message and returns its response, as JSON or as a stream that can be resumed. */
import type { Context } from 'hono';
import { Cancelled, MessageImages } from '../../shared/api/answers.ts';
import { AnyResponse, toPlain } from '../../shared/api/plain-documents.ts';
import { ChatRequest, MessagePatch, PlanRequest } from '../../shared/api/requests.ts';
import { parseResponseId, ResponseId } from '../../shared/ids.ts';
import { ChatResponse } from '../../shared/wire/documents.ts';
import { type AppContext, personOf } from '../account/caller.ts';
import { readDocument } from '../conversation/reading/requests.ts';
import { type Sending, SUBMIT_ERRORS, submitMessage } from '../desk/accept.ts';
import { sentWith } from '../desk/idempotency.ts';
import { parseId, parseMessage } from '../desk/parse.ts';
import { type Endpoint, type EndpointAnswer, IDEMPOTENCY_KEY, jsonAnswer } from '../endpoint.ts';
import { foldAnswer, onlyWaits } from '../follow/fold-answer.ts';
import { follow } from '../follow/follow.ts';
import { followAsSse } from '../follow/sse-adapter.ts';
import { conversationOf } from '../objects.ts';
import { unwrap } from '../outcome.ts';
import type { Caller } from '../ports/conversation.ts';
import { reach } from '../reach.ts';
import {
  cursorOf,
  EVENTS,
  EVENTS_QUERY,
  EVENTS_SOCKET,
  eventsQuery,
  LAST_EVENT_ID,
} from './events.ts';
import { CHAT_REQUEST, PLAN_REQUEST } from './examples.ts';

const RESPONSE_PARAMS = {
  id: { description: 'A response.', zod: ResponseId },
} as const;

/** The answer to a request that begins a response. */
export const ANSWERED: EndpointAnswer = {
  status: 200,
  description:
    'The response, sent at its end, or when it only waits for a person. With `"stream": true` or `Accept: text/event-stream` a stream of events.',
  headers: {
    'Drawbridge-Conversation-Id': 'The conversation, also if this message began it.',
    'Drawbridge-Response-Id': 'The response, known before its first event.',
  },
  content: [{ type: 'application/json', schema: AnyResponse }, EVENTS],
};

const COMMON = { tag: 'Chat', access: 'user' } as const;

/** The endpoints of this file. */
export const CHAT: readonly Endpoint[] = [
  {
    ...COMMON,
    id: 'createResponse',
    needs: 'chat',
    method: 'post',
    path: '/api/v1/chat/completions',
    summary: 'Send a message',
    description:
      'Appends the messages to the conversation `conversationId`, or begins a new one without it. The last message must have the role `user` and must not be empty.',
    rate: 'run',
    headers: [IDEMPOTENCY_KEY],
    body: { schema: ChatRequest, example: CHAT_REQUEST },
    answers: [ANSWERED],
    errors: SUBMIT_ERRORS,
    handle: async (c) => await answer(c, await parseMessage(c, ChatRequest)),
  },
  {
    ...COMMON,
    id: 'createPlan',
    needs: 'chat',
    method: 'post',
    path: '/api/v1/chat/plan',
    summary: 'Ask for a plan',
    description:
      'The same as a message in the mode `plan`. The agent changes nothing in this mode.',
    rate: 'run',
    headers: [IDEMPOTENCY_KEY],
    body: { schema: PlanRequest, example: PLAN_REQUEST },
    answers: [ANSWERED],
    errors: SUBMIT_ERRORS,
    handle: async (c) => await answer(c, await parseMessage(c, PlanRequest)),
  },
  {
    ...COMMON,
    id: 'getResponse',
    needs: 'read',
    method: 'get',
    path: '/api/v1/chat/completions/{id}',
    summary: 'Get a response as it is now',
    params: RESPONSE_PARAMS,
    answers: [jsonAnswer(200, 'The response.', ChatResponse)],
    handle: async (c) => {
      const { caller, ordinal } = addressed(c);
      return await readDocument(c.env, caller, { type: 'response', ordinal });
    },
  },
  {
    ...COMMON,
    id: 'getImages',
    needs: 'read',
    method: 'get',
    path: '/api/v1/chat/completions/{id}/images',
    summary: 'Get the images of a message',
    description: '`id` is the response to the message.',
    params: RESPONSE_PARAMS,
    answers: [jsonAnswer(200, 'The images.', MessageImages)],
    handle: async (c) => {
      const { caller, ordinal } = addressed(c);
      return await readDocument(c.env, caller, { type: 'images', ordinal });
    },
  },
  {
    id: 'followResponse',
    needs: 'read',
    method: 'get',
    path: '/api/v1/chat/completions/{id}/events',
    tag: 'Chat',
    summary: 'Follow the events of a response',
    description:
      'Sends the events after the cursor, up to `done`. A stream may end earlier: then ask again with the cursor.',
    access: 'stream',
    params: RESPONSE_PARAMS,
    query: EVENTS_QUERY,
    headers: [LAST_EVENT_ID],
    answers: [
      EVENTS_SOCKET,
      { status: 200, description: 'The events.', content: [EVENTS] },
      { status: 204, description: 'The response is over, and the cursor is its last event.' },
    ],
    errors: ['INVALID_CURSOR'],
    handle: async (c) => {
      const { caller, responseId } = addressed(c);
      const { framing, after } = eventsQuery(c);
      return await follow(c.req.raw, c.env, {
        caller,
        responseId,
        framing,
        cursor: cursorOf(c, after),
      });
    },
  },
  {
    ...COMMON,
    id: 'editMessage',
    needs: 'chat',
    method: 'patch',
    path: '/api/v1/chat/completions/{id}',
    summary: 'Change a waiting message',
    description:
      '`id` is the response to the message. To withdraw the message, cancel that response.',
    params: RESPONSE_PARAMS,
    body: { schema: MessagePatch, example: { content: 'And a test for it, please.' } },
    answers: [jsonAnswer(200, 'The response still waits.', Cancelled)],
    errors: ['ALREADY_STARTED'],
    handle: async (c) => {
      const { caller, ordinal } = addressed(c);
      const { content } = await parseMessage(c, MessagePatch);
      const conversation = conversationOf(c.env, caller);
      const images = c.var.images?.place;
      return c.json(unwrap(await conversation.edit(caller, ordinal, content, images)));
    },
  },
  {
    ...COMMON,
    id: 'cancelResponse',
    needs: 'chat',
    method: 'post',
    path: '/api/v1/chat/completions/{id}/cancel',
    summary: 'Cancel a response',
    description: 'A finished response does not change.',
    params: RESPONSE_PARAMS,
    answers: [
      jsonAnswer(200, 'The status at this moment. `done` has the final status.', Cancelled),
    ],
    handle: async (c) => {
      const { caller, ordinal } = addressed(c);
      const cancel = () => conversationOf(c.env, caller).cancel(caller, ordinal);
      return c.json(unwrap(await reach(cancel)));
    },
  },
];

/** The response that the path names, and its caller. */
function addressed(c: Context<AppContext>): {
  caller: Caller;
  responseId: string;
  ordinal: number;
} {
  const responseId = parseId(ResponseId, c.req.param('id'), 'response');
  const { conversationId, ordinal } = parseResponseId(responseId);
  return { caller: { ...personOf(c), conversationId }, responseId, ordinal };
}

/** Takes the message, or what it is sent for, and sends the response in the form that the request asks for. */
export async function answer(
  c: Context<AppContext>,
  request: ChatRequest,
  errand?: Sending['errand'],
): Promise<Response> {
  const submitted = await submitMessage(c.env, {
    request,
    ...(errand && { errand }),
    ...sentWith(c),
  });
  const headers = {
    'Drawbridge-Conversation-Id': submitted.caller.conversationId,
    'Drawbridge-Response-Id': submitted.responseId,
  };
  const isPlain = request.documents === 'plain';
  if (!wantsStream(c, request)) {
    const response = await foldAnswer(c.req.raw.signal, c.env, submitted, onlyWaits);
    return c.json(isPlain ? toPlain(response) : response, 200, headers);
  }
  const framing = request.stream_options?.framing ?? (isPlain ? 'data' : 'named');
  return await followAsSse(c.req.raw, c.env, { ...submitted, framing, cursor: 0 }, headers);
}

function wantsStream(c: Context<AppContext>, request: ChatRequest): boolean {
  return request.stream || (c.req.header('accept') ?? '').includes('text/event-stream');
}
