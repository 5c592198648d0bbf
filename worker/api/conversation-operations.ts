/** `conversations`: the list of them, and each as a whole. */
import {
  ConversationExport,
  ConversationInfo,
  ConversationList,
  ConversationPatch,
  ConversationQuery,
  ConversationsQuery,
  ExportQuery,
  Forked,
  ForkRequest,
} from '../../shared/conversations.ts';
import { ConversationView } from '../../shared/documents.ts';
import { ConversationId } from '../../shared/ids.ts';
import { CONVERSATION_LIMITS, REQUEST_LIMITS } from '../../shared/limits.ts';
import { EVENTS, EVENTS_QUERY, EVENTS_SOCKET, LAST_EVENT_ID } from './chat-operations.ts';
import { RESPONSE_ID } from './examples.ts';
import { describeQuery, jsonAnswer, type Operation } from './operation.ts';

export const CONVERSATIONS = '/api/v1/conversations';

export const CONVERSATION_PARAMS = {
  id: { description: 'A conversation.', zod: ConversationId },
} as const;

const LIST_QUERY = describeQuery({
  schema: ConversationsQuery,
  described: {
    limit: {
      description: 'How many at most.',
      schema: {
        type: 'integer',
        minimum: 1,
        maximum: REQUEST_LIMITS.maxPageSize,
        default: REQUEST_LIMITS.pageSize,
      },
    },
    cursor: { description: '`nextCursor` of the page before.' },
    search: { description: 'Words that must all stand in the title or the text, in any case.' },
    archived: {
      description: 'The archived ones instead of the others.',
      schema: { type: 'boolean', default: false },
    },
  },
});

const VIEW_QUERY = describeQuery({
  schema: ConversationQuery,
  described: {
    limit: {
      description:
        'How many messages with their responses at most; those that have not ended are always there.',
      schema: {
        type: 'integer',
        minimum: 1,
        maximum: REQUEST_LIMITS.maxPageSize,
        default: CONVERSATION_LIMITS.shownExchanges,
      },
    },
    before: { description: '`earlier` of the part that comes after it.' },
  },
});

export const CONVERSATION_OPERATIONS: readonly Operation[] = [
  {
    id: 'listConversations',
    method: 'get',
    path: CONVERSATIONS,
    tag: 'Conversations',
    summary: 'List conversations',
    description: 'The one that was answered last comes first.',
    access: 'user',
    query: LIST_QUERY,
    answers: [jsonAnswer(200, 'A page of them.', ConversationList)],
    errors: ['INVALID_CURSOR'],
  },
  {
    id: 'getConversation',
    method: 'get',
    path: `${CONVERSATIONS}/{id}`,
    tag: 'Conversations',
    summary: 'Messages and responses',
    description:
      'The newest part of the conversation, which is smaller than `limit` says where responses are large; with `before` the part before it.',
    access: 'user',
    params: CONVERSATION_PARAMS,
    query: VIEW_QUERY,
    answers: [jsonAnswer(200, 'A part of the conversation, the oldest first.', ConversationView)],
    errors: ['NOT_FOUND'],
  },
  {
    id: 'updateConversation',
    method: 'patch',
    path: `${CONVERSATIONS}/{id}`,
    tag: 'Conversations',
    summary: 'Rename or archive',
    access: 'user',
    params: CONVERSATION_PARAMS,
    body: { schema: ConversationPatch, example: { title: 'Two languages' } },
    answers: [jsonAnswer(200, 'The conversation as it is listed now.', ConversationInfo)],
    errors: ['NOT_FOUND'],
  },
  {
    id: 'deleteConversation',
    method: 'delete',
    path: `${CONVERSATIONS}/{id}`,
    tag: 'Conversations',
    summary: 'Delete everything of it',
    description: 'What is at work there is ended first.',
    access: 'user',
    params: CONVERSATION_PARAMS,
    answers: [{ status: 204, description: 'It is gone.' }],
    errors: ['NOT_FOUND'],
  },
  {
    id: 'forkConversation',
    method: 'post',
    path: `${CONVERSATIONS}/{id}/forks`,
    tag: 'Conversations',
    summary: 'Go on elsewhere',
    description: 'A new conversation with everything up to the end of one response.',
    access: 'user',
    params: CONVERSATION_PARAMS,
    body: { schema: ForkRequest, example: { responseId: RESPONSE_ID } },
    answers: [jsonAnswer(201, 'The new conversation.', Forked)],
    errors: ['NOT_FOUND', 'CONVERSATION_BUSY'],
  },
  {
    id: 'exportConversation',
    method: 'get',
    path: `${CONVERSATIONS}/{id}/export`,
    tag: 'Conversations',
    summary: 'Download a conversation',
    access: 'user',
    params: CONVERSATION_PARAMS,
    query: describeQuery({
      schema: ExportQuery,
      described: { format: { description: 'For programs, or for people.' } },
    }),
    answers: [
      {
        status: 200,
        description: 'The file.',
        headers: { 'Content-Disposition': 'A file name made from the title.' },
        content: [
          { type: 'application/json', schema: ConversationExport },
          { type: 'text/markdown' },
        ],
      },
    ],
    errors: ['NOT_FOUND'],
  },
  {
    id: 'followConversation',
    method: 'get',
    path: `${CONVERSATIONS}/{id}/events`,
    tag: 'Conversations',
    summary: 'The events of a conversation',
    description:
      'From the cursor on, or, where that is too much to tell, from a `snapshot` of the newest part on; it goes on until the client leaves.',
    access: 'stream',
    params: CONVERSATION_PARAMS,
    query: EVENTS_QUERY,
    headers: [LAST_EVENT_ID],
    answers: [EVENTS_SOCKET, { status: 200, description: 'The events.', content: [EVENTS] }],
    errors: ['NOT_FOUND', 'INVALID_CURSOR'],
  },
];
