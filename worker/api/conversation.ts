/** What the routes share about addressing a conversation: its object, and where a reader of it stands. */
import type { Context } from 'hono';
import type * as z from 'zod';
import { Cursor, EventsQuery } from '../../shared/requests.ts';
import type { Caller, Conversation } from '../conversation/object.ts';
import type { Env } from '../env.ts';
import type { AppContext } from '../people/caller.ts';
import { parse } from './parse.ts';

export function conversationOf(
  env: Env,
  { conversationId }: Caller,
): DurableObjectStub<Conversation> {
  return env.CONVERSATIONS.get(env.CONVERSATIONS.idFromName(conversationId));
}

export function eventsQuery(c: Context<AppContext>): z.infer<typeof EventsQuery> {
  return parse(EventsQuery, c.req.query());
}

/**
 * `Last-Event-ID` wins over `?after=`: an EventSource comes back to the address that it began with, and says by itself
 * what it has seen since. Neither is the beginning.
 */
export function cursorOf(c: Context<AppContext>, after: number | undefined): number {
  const lastEventId = c.req.header('last-event-id');
  return lastEventId ? parse(Cursor, lastEventId) : (after ?? 0);
}
