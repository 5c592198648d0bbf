/** `tickets`: opens streams for readers that cannot send a token, such as a browser's EventSource. */
import { Ticket, TicketRequest } from '../../shared/api/conversations.ts';
import { parseResponseId } from '../../shared/ids.ts';
import { personOf } from '../account/caller.ts';
import { mintTicket } from '../account/tickets.ts';
import { parseBody } from '../desk/parse.ts';
import { type Endpoint, jsonAnswer } from '../endpoint.ts';
import type { Env } from '../env.ts';
import { conversationOf } from '../objects.ts';
import { unwrap } from '../outcome.ts';
import type { Person } from '../ports/conversation.ts';
import { reach } from '../reach.ts';
import { ACCOUNT_EVENTS_PATH } from './account-events.ts';
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
      'The ticket goes into `?ticket=` of an `events` path. It is for readers that cannot send a token, such as a browser’s EventSource. It opens that stream once, within a minute. For 15 minutes the same reader may come back with it and with `Last-Event-ID`, as an EventSource does by itself: that ends its earlier connection.',
    access: 'user',
    body: { schema: TicketRequest, example: { conversationId: CONVERSATION_ID } },
    answers: [jsonAnswer(201, 'The ticket.', Ticket)],
    errors: ['NOT_FOUND', 'CONTENT_DELETED'],
    handle: async (c) => {
      const person = personOf(c);
      const path = await findStream(c.env, person, await parseBody(c, TicketRequest));
      const { account, session, expiresMs: untilMs } = person;
      const salt = c.var.caller.app?.key.salt;
      const wanted = { account, session, salt, path, nowMs: Date.now(), untilMs };
      const ticket = await mintTicket(c.env.AUTH_SECRET, wanted);
      return c.json(ticket, 201);
    },
  },
];

/** The path of the requested stream. Throws NOT_FOUND and CONTENT_DELETED. */
async function findStream(env: Env, person: Person, request: TicketRequest): Promise<string> {
  if ('stream' in request) return ACCOUNT_EVENTS_PATH;
  const isResponse = 'responseId' in request;
  const { conversationId, ordinal } = isResponse
    ? parseResponseId(request.responseId)
    : { ...request, ordinal: null };
  const caller = { ...person, conversationId };
  unwrap(await reach(() => conversationOf(env, caller).find(caller, ordinal)));
  return isResponse
    ? `/api/v1/chat/completions/${request.responseId}/events`
    : `${CONVERSATIONS}/${conversationId}/events`;
}
