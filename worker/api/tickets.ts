/** `tickets`: for streams whose reader cannot send a token, such as a browser's EventSource. */
import { Ticket, TicketRequest } from '../../shared/conversations.ts';
import { parseResponseId } from '../../shared/ids.ts';
import { parseBody } from '../desk/parse.ts';
import { type Endpoint, jsonAnswer } from '../endpoint.ts';
import { conversationOf } from '../objects.ts';
import { unwrap } from '../outcome.ts';
import { mintTicket } from '../people/tickets.ts';
import { reach } from '../reach.ts';
import { CONVERSATION_ID } from './examples.ts';
import { CONVERSATIONS } from './path.ts';

/** The tickets by which a device looks on. */
export const TICKETS: readonly Endpoint[] = [
  {
    id: 'createTicket',
    method: 'post',
    path: '/api/v1/tickets',
    tag: 'Conversations',
    summary: 'A ticket for one stream',
    description:
      'For `?ticket=` of an `events` path, where a reader such as a browser’s EventSource cannot send a token. It opens that stream once.',
    access: 'user',
    body: { schema: TicketRequest, example: { conversationId: CONVERSATION_ID } },
    answers: [jsonAnswer(201, 'The ticket.', Ticket)],
    errors: ['NOT_FOUND'],
    handle: async (c) => {
      const { path, conversationId, ordinal } = streamOf(await parseBody(c, TicketRequest));
      const account = c.var.caller.sub;
      const caller = { account, conversationId };
      unwrap(await reach(() => conversationOf(c.env, caller).find(caller, ordinal)));
      const ticket = await mintTicket(c.env.AUTH_SECRET, { account, path, nowMs: Date.now() });
      return c.json(ticket, 201);
    },
  },
];

/** Which stream is asked for: the path it has in the route table, and whose it is. */
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
