/** `conversations`: the whole of one, its events, and answers to what it asks. */
import type { Context } from 'hono';
import { Hono } from 'hono';
import { CallId, ConversationId } from '../../shared/ids.ts';
import { ApprovalRequest } from '../../shared/requests.ts';
import type { AppContext } from '../auth/caller.ts';
import type { Caller } from '../conversation/object.ts';
import { followAsSse } from '../follow/sse-adapter.ts';
import { unwrap } from '../outcome.ts';
import { conversationOf, cursorOf, eventsQuery } from './conversation.ts';
import { parseBody, parseId } from './parse.ts';

export const conversations = new Hono<AppContext>()
  .get('/:id', async (c) => {
    const caller = callerOf(c);
    return c.json(unwrap(await conversationOf(c.env, caller).view(caller)));
  })
  .get('/:id/events', async (c) => {
    const caller = callerOf(c);
    const { framing, after } = eventsQuery(c);
    const cursor = cursorOf(c, after);
    return await followAsSse(c.req.raw, c.env, { caller, responseId: null, framing, cursor });
  })
  .post('/:id/approvals/:callId', async (c) => {
    const caller = callerOf(c);
    const callId = parseId(CallId, c.req.param('callId'), 'call');
    const answer = await parseBody(c, ApprovalRequest);
    unwrap(await conversationOf(c.env, caller).answerApproval(caller, callId, answer));
    return c.json({ callId, decision: answer.decision });
  });

function callerOf(c: Context<AppContext>): Caller {
  const conversationId = parseId(ConversationId, c.req.param('id') ?? '', 'conversation');
  return { account: c.var.caller.sub, conversationId };
}
