/** `conversations`: lists conversations; reads, follows, changes, deletes and forks one. */
import {
  ConversationInfo,
  ConversationList,
  ConversationPatch,
  ConversationQuery,
  ConversationsQuery,
  Forked,
  ForkRequest,
} from '../../shared/api/conversations.ts';
import { DrawbridgeError } from '../../shared/errors.ts';
import { parseResponseId } from '../../shared/ids.ts';
import { CONVERSATION_LIMITS, REQUEST_LIMITS } from '../../shared/limits.ts';
import { ConversationView } from '../../shared/wire/documents.ts';
import { RuleReports } from '../../shared/wire/rules.ts';
import { stillAskedBy } from '../account/caller.ts';
import { parseCursor } from '../account/cursor.ts';
import { wordsOf } from '../account/search.ts';
import { readDocument } from '../conversation/reading/requests.ts';
import { deleteConversation } from '../desk/delete.ts';
import { forkKeeping, forkRestoring } from '../desk/fork.ts';
import { sentWith } from '../desk/idempotency.ts';
import { parse, parseBody } from '../desk/parse.ts';
import {
  describePage,
  describeQuery,
  type Endpoint,
  IDEMPOTENCY_KEY,
  jsonAnswer,
} from '../endpoint.ts';
import { follow } from '../follow/follow.ts';
import { accountOf, conversationOf } from '../objects.ts';
import { type Outcome, unwrap } from '../outcome.ts';
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
import { RESPONSE_ID } from './examples.ts';
import { CONVERSATION_PARAMS, CONVERSATIONS, callerOf } from './path.ts';

const LIST_QUERY = describeQuery({
  schema: ConversationsQuery,
  described: {
    ...describePage('conversations'),
    search: {
      description: 'Words that must all occur in the title or the text. Case does not matter.',
    },
    archived: {
      description: 'Lists archived conversations instead of the others.',
      schema: { type: 'boolean', default: false },
    },
    bridgeId: {
      description:
        'Leaves out the conversations of other bridges. Those that were answered last before the list had their bridge are included.',
    },
  },
});

const VIEW_QUERY = describeQuery({
  schema: ConversationQuery,
  described: {
    limit: {
      description:
        'The most messages, each with its response. Responses that have not ended are always included.',
      schema: {
        type: 'integer',
        minimum: 1,
        maximum: REQUEST_LIMITS.maxPageSize,
        default: CONVERSATION_LIMITS.shownExchanges,
      },
    },
    before: { description: '`earlier` of the part that follows the requested one.' },
  },
});

const COMMON = { tag: 'Conversations', access: 'user' } as const;

/** The endpoints of this file. */
export const CONVERSATION_ENDPOINTS: readonly Endpoint[] = [
  {
    ...COMMON,
    id: 'listConversations',
    needs: 'read',
    method: 'get',
    path: CONVERSATIONS,
    summary: 'List conversations',
    description: 'The conversation that was answered last comes first.',
    isHeavy: true,
    query: LIST_QUERY,
    answers: [jsonAnswer(200, 'A page of the list.', ConversationList)],
    errors: ['INVALID_CURSOR'],
    handle: async (c) => {
      const { limit, cursor, search, ...which } = parse(ConversationsQuery, c.req.query());
      const after = cursor === undefined ? null : parseCursor(cursor);
      const words = wordsOf(search ?? '');
      const list = () =>
        accountOf(c.env, c.var.caller.sub).list({ limit, after, words, ...which }, stillAskedBy(c));
      return c.body(await reach<string>(list), { headers: { 'content-type': 'application/json' } });
    },
  },
  {
    ...COMMON,
    id: 'getConversation',
    needs: 'read',
    method: 'get',
    path: `${CONVERSATIONS}/{id}`,
    summary: 'Get messages and responses',
    description:
      'Returns the newest part of the conversation, or with `before` the part before that response. A part with large responses holds fewer messages than `limit`.',
    params: CONVERSATION_PARAMS,
    query: VIEW_QUERY,
    answers: [jsonAnswer(200, 'A part of the conversation, the oldest first.', ConversationView)],
    handle: async (c) => {
      const caller = callerOf(c);
      const { limit, before } = parse(ConversationQuery, c.req.query());
      const ordinal = before === undefined ? null : ordinalIn(caller, before);
      const newest = { limit, before: ordinal };
      return await readDocument(c.env, caller, { type: 'newest', newest });
    },
  },
  {
    ...COMMON,
    id: 'getRules',
    needs: 'read',
    method: 'get',
    path: `${CONVERSATIONS}/{id}/rules`,
    summary: 'Explain the rules',
    description:
      'Lists the rules of the workspace that applied to the newest response and why, those that did not, and the files that were left out.',
    params: CONVERSATION_PARAMS,
    answers: [jsonAnswer(200, 'The rules in the order in which the model gets them.', RuleReports)],
    handle: async (c) => await readDocument(c.env, callerOf(c), { type: 'rules' }),
  },
  {
    ...COMMON,
    id: 'updateConversation',
    needs: 'manage',
    method: 'patch',
    path: `${CONVERSATIONS}/{id}`,
    summary: 'Rename or archive',
    params: CONVERSATION_PARAMS,
    body: { schema: ConversationPatch, example: { title: 'Two languages' } },
    answers: [jsonAnswer(200, 'The conversation as the list now shows it.', ConversationInfo)],
    handle: async (c) => {
      const caller = callerOf(c);
      const patch = await parseBody(c, ConversationPatch);
      const update = () => conversationOf(c.env, caller).update(caller, patch);
      return c.json(unwrap<ConversationInfo>(await reach<Outcome<ConversationInfo>>(update)));
    },
  },
  {
    ...COMMON,
    id: 'deleteConversation',
    isHeavy: true,
    needs: 'manage',
    method: 'delete',
    path: `${CONVERSATIONS}/{id}`,
    summary: 'Delete a conversation',
    description: 'Ends the current run first.',
    params: CONVERSATION_PARAMS,
    answers: [{ status: 204, description: 'The conversation is deleted.' }],
    handle: async (c) => {
      await deleteConversation(c.env, callerOf(c));
      return c.body(null, 204);
    },
  },
  {
    ...COMMON,
    id: 'forkConversation',
    isHeavy: true,
    needs: 'manage',
    method: 'post',
    path: `${CONVERSATIONS}/{id}/forks`,
    summary: 'Fork a conversation',
    description:
      'Makes a new conversation with everything up to the end of one response. With `files: "restore"` it begins with a response that asks no model: the bridge takes back what later responses changed in files, as an undo `since` the next response does, and with the `digest` of its preview nothing else. It is refused before anything is made while the conversation answers a message (`CONVERSATION_BUSY`) and while its bridge is offline (`UNAVAILABLE`).',
    rate: 'run',
    headers: [IDEMPOTENCY_KEY],
    params: CONVERSATION_PARAMS,
    body: { schema: ForkRequest, example: { responseId: RESPONSE_ID } },
    answers: [jsonAnswer(201, 'The new conversation.', Forked)],
    errors: ['CONVERSATION_BUSY', 'IDEMPOTENCY_CONFLICT', 'UNAVAILABLE'],
    handle: async (c) => {
      const caller = callerOf(c);
      const { responseId: at, files, digest } = await parseBody(c, ForkRequest);
      const { bridgeId: _, ...sent } = sentWith(c); // The fork works where the conversation does.
      const sending = { ...sent, from: caller.conversationId, ordinal: ordinalIn(caller, at) };
      if (files === 'keep') {
        const conversationId = await forkKeeping(c.env, sending);
        return c.json({ conversationId } satisfies Forked, 201);
      }
      const { caller: fork, responseId } = await forkRestoring(c.env, sending, digest);
      return c.json({ conversationId: fork.conversationId, responseId } satisfies Forked, 201);
    },
  },
  {
    id: 'followConversation',
    needs: 'read',
    method: 'get',
    path: `${CONVERSATIONS}/{id}/events`,
    tag: 'Conversations',
    summary: 'Follow the events of a conversation',
    description:
      'Sends the events after the cursor. If they are too many, begins with a `snapshot` of the newest part instead. Goes on until the client leaves.',
    access: 'stream',
    params: CONVERSATION_PARAMS,
    query: EVENTS_QUERY,
    headers: [LAST_EVENT_ID],
    answers: [EVENTS_SOCKET, { status: 200, description: 'The events.', content: [EVENTS] }],
    errors: ['INVALID_CURSOR'],
    handle: async (c) => {
      const caller = callerOf(c);
      const { framing, after } = eventsQuery(c);
      const cursor = cursorOf(c, after);
      return await follow(c.req.raw, c.env, { caller, responseId: null, framing, cursor });
    },
  },
];

/** The ordinal of a response. Throws NOT_FOUND if the response belongs to another conversation. */
function ordinalIn({ conversationId }: Caller, responseId: string): number {
  const { conversationId: of, ordinal } = parseResponseId(responseId);
  if (of === conversationId) return ordinal;
  throw new DrawbridgeError('NOT_FOUND', 'There is no such response');
}
