/** `/api/v1/ui`: the agent as the chats of Vercel's AI SDK see it. */
import * as z from 'zod';
import { named } from '../../shared/named.ts';
import {
  describeQuery,
  deskOf,
  type Endpoint,
  type EndpointAnswer,
  parse,
  parseId,
  parseMessage,
  SUBMIT_ERRORS,
} from '../../worker/door.ts';
import { withContent } from '../openai/client-tools.ts';
import { placeOf, unfinishedOf } from './chat.ts';
import { UI_BODY_LIMITS } from './limits.ts';
import { ChatId, toChatRequest, UiChatRequest } from './request.ts';
import { CHAT_PATH, openSocket } from './socket.ts';
import { IF_LEFT, streamChunks } from './stream.ts';

/** A chunk of the SDK, which has the schemas of all types. */
const UiMessageChunk = z.looseObject({ type: z.string() });
named.add(UiMessageChunk, { id: 'UiMessageChunk' });

const CHUNKS: EndpointAnswer = {
  status: 200,
  description: 'The chunks of the message, then `[DONE]`.',
  headers: {
    'Drawbridge-Conversation-Id': 'The conversation of the chat.',
    'Drawbridge-Response-Id': 'The response. It is the id of the message.',
  },
  content: [
    {
      type: 'text/event-stream',
      events: UiMessageChunk,
      examples: {
        chunks: {
          summary: 'A chunk',
          value: 'data: {"type":"text-delta","id":"doc_001","delta":"Hello."}\n\n',
        },
      },
    },
  ],
};

const ResumeQuery = z.object({ after: z.coerce.number().int().nonnegative().default(-1) });

const IfLeft = z.enum(['cancel', 'continue']).default('cancel');

const HEADERS = [
  {
    name: IF_LEFT,
    description: 'What the run does once its reader has left: `cancel` (default) or `continue`.',
    zod: IfLeft,
  },
];

const COMMON = { tag: 'AI SDK', access: 'user', needs: 'chat' } as const;

/** The endpoints of this file. */
export const UI_MESSAGES: readonly Endpoint[] = [
  {
    ...COMMON,
    id: 'createUiMessage',
    method: 'post',
    path: CHAT_PATH,
    summary: 'Answer a chat of the AI SDK',
    description:
      'Takes what `DefaultChatTransport` sends, and reads the messages behind the last answer.',
    rate: 'run',
    headers: HEADERS,
    body: {
      schema: UiChatRequest,
      example: {
        id: 'my-chat',
        messages: [{ id: 'm1', role: 'user', parts: [{ type: 'text', text: 'What is here?' }] }],
        trigger: 'submit-message',
      },
    },
    answers: [CHUNKS],
    errors: SUBMIT_ERRORS,
    handle: async (c) => {
      const request = await parseMessage(c, UiChatRequest, UI_BODY_LIMITS);
      const desk = deskOf(c);
      if ('given' in request) {
        const { responseId, results } = request.given;
        const given = { results: await withContent(results, c.var.images), said: [] };
        const goesOn = await desk.give(responseId, given);
        return await streamChunks(c, goesOn, { from: goesOn.after });
      }
      const functions = request.tools?.functions ?? [];
      const place = await placeOf(desk, request);
      const submitted = await desk.submit({
        request: toChatRequest(request, place.conversationId),
        newId: place.newId,
        clientTools: functions.length > 0 ? functions : undefined,
        idempotencyKey: `ui-chat ${request.previous} ${request.lastId}`,
      });
      return await streamChunks(c, submitted);
    },
  },
  {
    ...COMMON,
    id: 'resumeUiMessage',
    method: 'get',
    path: `${CHAT_PATH}/{id}/stream`,
    summary: 'Resume the answer of a chat',
    params: { id: { description: 'The chat.', zod: ChatId } },
    query: describeQuery({
      schema: ResumeQuery,
      described: {
        after: {
          description: 'The number of the last chunk that the reader has, counted from 0.',
          schema: { type: 'integer', minimum: 0 },
        },
      },
    }),
    headers: HEADERS,
    answers: [CHUNKS, { status: 204, description: 'No answer of the chat is under way.' }],
    handle: async (c) => {
      const id = parseId(ChatId, c.req.param('id'), 'chat');
      const { after } = parse(ResumeQuery, c.req.query());
      const found = await unfinishedOf(deskOf(c), id);
      return found ? await streamChunks(c, found, { after }) : c.body(null, 204);
    },
  },
  {
    id: 'openUiSocket',
    method: 'get',
    path: '/api/v1/ui/socket',
    tag: 'AI SDK',
    summary: 'Chats of the AI SDK over a WebSocket',
    description:
      'Takes the frames of `WebSocketChatTransport`, with a token in the `headers` of each.',
    access: 'open',
    answers: [{ status: 101, description: 'The socket.' }],
    errors: ['INVALID_REQUEST'],
    handle: openSocket,
  },
];
