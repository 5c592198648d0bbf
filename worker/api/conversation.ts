/** Where a reader of a conversation stands, as its request says. */
import type { Context } from 'hono';
import type * as z from 'zod';
import { Cursor, EventsQuery } from '../../shared/requests.ts';
import { parse } from '../desk/parse.ts';
import type { AppContext } from '../people/caller.ts';

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
