/** `conversations`: the list of them, the whole of one, its events, and what can be done to it. */
import type { Context } from 'hono';
import { Hono } from 'hono';
import {
  type ConversationExport,
  ConversationPatch,
  ConversationsQuery,
  ExportQuery,
  type Forked,
  ForkRequest,
} from '../../shared/conversations.ts';
import type { ConversationView } from '../../shared/documents.ts';
import { DrawbridgeError } from '../../shared/errors.ts';
import {
  CallId,
  ConversationId,
  DocumentId,
  newConversationId,
  parseResponseId,
} from '../../shared/ids.ts';
import { ApprovalRequest, ClarificationAnswer } from '../../shared/requests.ts';
import { parseCursor } from '../account/cursor.ts';
import type { Account } from '../account/object.ts';
import { wordsOf } from '../account/search.ts';
import type { AppContext } from '../auth/caller.ts';
import { forkConversation } from '../conversation/fork.ts';
import type { Caller } from '../conversation/object.ts';
import { readWhole } from '../conversation/read-request.ts';
import { attachmentNamed } from '../export/file-name.ts';
import { renderMarkdown } from '../export/markdown.ts';
import { follow } from '../follow/follow.ts';
import { unwrap } from '../outcome.ts';
import { conversationOf, cursorOf, eventsQuery } from './conversation.ts';
import { parse, parseBody, parseId } from './parse.ts';

export const conversations = new Hono<AppContext>()
  .get('/', async (c) => {
    const { limit, cursor, search, archived } = parse(ConversationsQuery, c.req.query());
    const after = cursor === undefined ? null : parseCursor(cursor);
    const words = wordsOf(search ?? '');
    return c.json(await accountOf(c).list({ limit, after, words, archived }));
  })
  .get('/:id', async (c) => {
    const caller = callerOf(c);
    return await readWhole(c.env, { caller, ordinal: null });
  })
  .patch('/:id', async (c) => {
    const caller = callerOf(c);
    const patch = await parseBody(c, ConversationPatch);
    return c.json(unwrap(await conversationOf(c.env, caller).update(caller, patch)));
  })
  .delete('/:id', async (c) => {
    const caller = callerOf(c);
    const deleted = await conversationOf(c.env, caller).delete(caller);
    // Also where there is none: a list that was not told of a deletion is mended by asking for it again.
    await accountOf(c).forget(caller.conversationId);
    unwrap(deleted);
    return c.body(null, 204);
  })
  .post('/:id/forks', async (c) => {
    const { account, conversationId: from } = callerOf(c);
    const { responseId } = await parseBody(c, ForkRequest);
    const { conversationId: of, ordinal } = parseResponseId(responseId);
    if (of !== from) throw new DrawbridgeError('NOT_FOUND', 'There is no such response');
    const conversationId = newConversationId(crypto.randomUUID());
    const to = { account, conversationId };
    await forkConversation(c.env, to, { from, ordinal, through: true });
    return c.json({ conversationId } satisfies Forked, 201);
  })
  .get('/:id/export', async (c) => {
    const caller = callerOf(c);
    const { format } = parse(ExportQuery, c.req.query());
    const whole = await readWhole(c.env, { caller, ordinal: null });
    if (!whole.ok) return whole;
    const conversation = await whole.json<ConversationView>();
    if (format === 'markdown') {
      return c.body(renderMarkdown(conversation), 200, {
        'content-type': 'text/markdown; charset=utf-8',
        'content-disposition': attachmentNamed(conversation.title, 'md'),
      });
    }
    const exported = new Date().toISOString();
    return c.json({ version: 1, exported, conversation } satisfies ConversationExport, 200, {
      'content-disposition': attachmentNamed(conversation.title, 'json'),
    });
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
    unwrap(await conversationOf(c.env, caller).answerApproval(caller, callId, answer));
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

function accountOf(c: Context<AppContext>): DurableObjectStub<Account> {
  return c.env.ACCOUNTS.get(c.env.ACCOUNTS.idFromName(c.var.caller.sub));
}
