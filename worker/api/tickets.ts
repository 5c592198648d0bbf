/** `tickets`: for streams whose reader cannot send a token, such as a browser's EventSource. */
import { Hono } from 'hono/tiny';
import { TicketRequest } from '../../shared/conversations.ts';
import { parseResponseId } from '../../shared/ids.ts';
import { parseBody } from '../desk/parse.ts';
import { conversationOf } from '../objects.ts';
import { unwrap } from '../outcome.ts';
import type { AppContext } from '../people/caller.ts';
import { mintTicket } from '../people/tickets.ts';
import { reach } from '../reach.ts';

export const tickets = new Hono<AppContext>().post('/', async (c) => {
  const { path, conversationId, ordinal } = streamOf(await parseBody(c, TicketRequest));
  const account = c.var.caller.sub;
  const caller = { account, conversationId };
  unwrap(await reach(() => conversationOf(c.env, caller).find(caller, ordinal)));
  const ticket = await mintTicket(c.env.AUTH_SECRET, { account, path, nowMs: Date.now() });
  return c.json(ticket, 201);
});

/** Which stream is asked for: the path it has in the route table, and whose it is. */
function streamOf(request: TicketRequest): {
  path: string;
  conversationId: string;
  ordinal: number | null;
} {
  if ('conversationId' in request) {
    const { conversationId } = request;
    return {
      path: `/api/v1/conversations/${conversationId}/events`,
      conversationId,
      ordinal: null,
    };
  }
  const path = `/api/v1/chat/completions/${request.responseId}/events`;
  return { path, ...parseResponseId(request.responseId) };
}
