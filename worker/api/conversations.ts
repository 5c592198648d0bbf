/** `conversations`: the list of them, the whole of one, its events, and what can be done to it. */
import type { Context } from 'hono';
import { Hono } from 'hono/tiny';
import {
  type ConversationInfo,
  type ConversationList,
  ConversationPatch,
  ConversationQuery,
  ConversationsQuery,
  ExportQuery,
  type Forked,
  ForkRequest,
} from '../../shared/conversations.ts';
import { DrawbridgeError } from '../../shared/errors.ts';
import {
  CallId,
  ConversationId,
  DocumentId,
  newConversationId,
  parseResponseId,
} from '../../shared/ids.ts';
import { ApprovalRequest, ClarificationAnswer } from '../../shared/requests.ts';
import { forkConversation } from '../conversation/fork/fork.ts';
import { readNewest } from '../conversation/reading/requests.ts';
import { parse, parseBody, parseId } from '../desk/parse.ts';
import { follow } from '../follow/follow.ts';
import { accountOf, conversationOf } from '../objects.ts';
import { type Outcome, unwrap } from '../outcome.ts';
import type { AppContext } from '../people/caller.ts';
import { parseCursor } from '../people/cursor.ts';
import { wordsOf } from '../people/search.ts';
import type { Caller } from '../ports.ts';
import { reach, unlessReset } from '../reach.ts';
import { answerApproval } from './answer-approval.ts';
import { cursorOf, eventsQuery } from './conversation.ts';
import { exportConversation } from './export.ts';

export const conversations = new Hono<AppContext>()
  .get('/', async (c) => {
    const { limit, cursor, search, archived } = parse(ConversationsQuery, c.req.query());
    const after = cursor === undefined ? null : parseCursor(cursor);
    const words = wordsOf(search ?? '');
    const list = () => accountOf(c.env, c.var.caller.sub).list({ limit, after, words, archived });
    return c.json(await reach<ConversationList>(list));
  })
  .get('/:id', async (c) => {
    const caller = callerOf(c);
    const { limit, before } = parse(ConversationQuery, c.req.query());
    const ordinal = before === undefined ? null : ordinalIn(caller, before);
    return await readNewest(c.env, caller, { limit, before: ordinal });
  })
  .patch('/:id', async (c) => {
    const caller = callerOf(c);
    const patch = await parseBody(c, ConversationPatch);
    const update = () => conversationOf(c.env, caller).update(caller, patch);
    return c.json(unwrap<ConversationInfo>(await reach<Outcome<ConversationInfo>>(update)));
  })
  .delete('/:id', async (c) => {
    const caller = callerOf(c);
    const deleted = await conversationOf(c.env, caller)
      .delete(caller)
      .catch((error: Error) => notErased(error));
    // Also where there is none: a list that was not told of a deletion is mended by asking for it again.
    await reach<void>(() => accountOf(c.env, caller.account).forget(caller.conversationId));
    unwrap(deleted);
    return c.body(null, 204);
  })
  .post('/:id/forks', async (c) => {
    const caller = callerOf(c);
    const { account, conversationId: from } = caller;
    const { responseId } = await parseBody(c, ForkRequest);
    const ordinal = ordinalIn(caller, responseId);
    const conversationId = newConversationId(crypto.randomUUID());
    const to = { account, conversationId };
    await reach(() => forkConversation(c.env, to, { from, ordinal, through: true }));
    return c.json({ conversationId } satisfies Forked, 201);
  })
  .get('/:id/export', async (c) => {
    const caller = callerOf(c);
    const { format } = parse(ExportQuery, c.req.query());
    return await exportConversation(c.env, caller, format);
  })
  .get('/:id/events', async (c) => {
    const caller = callerOf(c);
    const { framing, after } = eventsQuery(c);
    const cursor = cursorOf(c, after);
    return await follow(c.req.raw, c.env, { caller, responseId: null, framing, cursor });
  })
  .post('/:id/approvals/:callId', async (c) => {
    const caller = callerOf(c);
    const callId = parseId(CallId, c.req.param('callId'), 'call');
    const answer = await parseBody(c, ApprovalRequest);
    await answerApproval(c.env, caller, callId, answer);
    return c.json({ callId, decision: answer.decision });
  })
  .post('/:id/clarifications/:documentId', async (c) => {
    const caller = callerOf(c);
    const documentId = parseId(DocumentId, c.req.param('documentId'), 'document');
    const answer = await parseBody(c, ClarificationAnswer);
    unwrap(await conversationOf(c.env, caller).answerClarification(caller, documentId, answer));
    return c.json({ documentId });
  });

function callerOf(c: Context<AppContext>): Caller {
  const conversationId = parseId(ConversationId, c.req.param('id') ?? '', 'conversation');
  return { account: c.var.caller.sub, conversationId };
}

/** An object that the runtime cannot even start, for its file is damaged: nothing in it can be reached from here. */
function notErased(error: Error): Outcome<void> {
  const thrown = unlessReset(error);
  if (thrown instanceof DrawbridgeError) throw thrown; // A restart: asked again, it can be erased.
  console.error('a conversation could not be opened to be erased', error);
  const message =
    'The storage of this conversation is damaged and cannot be opened, so it could not be erased. It is off your list; ' +
    'whoever runs this server can remove its file.';
  return { ok: false, code: 'INTERNAL', message };
}

/** Which response of the conversation this is. */
function ordinalIn({ conversationId }: Caller, responseId: string): number {
  const { conversationId: of, ordinal } = parseResponseId(responseId);
  if (of === conversationId) return ordinal;
  throw new DrawbridgeError('NOT_FOUND', 'There is no such response');
}
