/** `tickets`: opens streams for readers that cannot send a token, such as a browser's EventSource. */
import { Ticket, TicketRequest } from '../../shared/api/conversations.ts';
import { parseResponseId } from '../../shared/ids.ts';
import { personOf } from '../account/caller.ts';
import { mintTicket } from '../account/tickets.ts';
import { parseBody } from '../desk/parse.ts';
import { type Endpoint, jsonAnswer } from '../endpoint.ts';
import { conversationOf } from '../objects.ts';
import { unwrap } from '../outcome.ts';
import { reach } from '../reach.ts';
import { CONVERSATION_ID } from './examples.ts';
import { CONVERSATIONS } from './path.ts';

/** The endpoint of this file. */
export const TICKETS: readonly Endpoint[] = [
  {
    id: 'createTicket',
    needs: 'read',
    method: 'post',
    path: '/api/v1/tickets',
    tag: 'Conversations',
    summary: 'Create a ticket for one stream',
    description:
      'The ticket goes into `?ticket=` of an `events` path. It is for readers that cannot send a token, such as a browser’s EventSource. It opens that stream once.',
    access: 'user',
    body: { schema: TicketRequest, example: { conversationId: CONVERSATION_ID } },
    answers: [jsonAnswer(201, 'The ticket.', Ticket)],
    errors: ['NOT_FOUND', 'CONTENT_DELETED'],
    handle: async (c) => {
      const { path, conversationId, ordinal } = streamOf(await parseBody(c, TicketRequest));
      const caller = { ...personOf(c), conversationId };
      unwrap(await reach(() => conversationOf(c.env, caller).find(caller, ordinal)));
      const { account, session, expiresMs: untilMs } = caller;
      const wanted = { account, session, path, nowMs: Date.now(), untilMs };
      const ticket = await mintTicket(c.env.AUTH_SECRET, wanted);
      return c.json(ticket, 201);
    },
  },
];

/** The path of the requested stream, its conversation, and its response (null for the whole conversation). */
function streamOf(request: TicketRequest): {
  path: string;
  conversationId: string;
  ordinal: number | null;
} {
  if ('conversationId' in request) {
    const { conversationId } = request;
    return {
      path: `${CONVERSATIONS}/${conversationId}/events`,
      conversationId,
      ordinal: null,
    };
  }
  const path = `/api/v1/chat/completions/${request.responseId}/events`;
  return { path, ...parseResponseId(request.responseId) };
}
