/** What every `events` path reads and answers, and where its reader stands. */
import type { Context } from 'hono';
import type * as z from 'zod';
import { StreamEvent } from '../../shared/events.ts';
import { Cursor, EventsQuery } from '../../shared/requests.ts';
import { parse } from '../desk/parse.ts';
import { type Answer, describeQuery, type Header } from '../endpoint.ts';
import type { AppContext } from '../people/caller.ts';
import { STREAMS } from './examples.ts';

const CURSOR = {
  type: 'integer',
  minimum: 0,
  maximum: Number.MAX_SAFE_INTEGER,
} as const;

/** What every `events` path reads. */
export const EVENTS_QUERY = describeQuery({
  schema: EventsQuery,
  described: {
    after: {
      description: 'The id of the last event seen: what follows it is sent.',
      schema: CURSOR,
    },
    framing: { description: 'Named events, or unnamed ones with their type inside the data.' },
  },
});

/** What a browser's EventSource sends by itself. */
export const LAST_EVENT_ID: Header = {
  name: 'Last-Event-ID',
  description: 'The id of the last event seen; it wins over the query’s `after`.',
  zod: Cursor,
  schema: CURSOR,
};

/** The events as server-sent events. */
export const EVENTS = {
  type: 'text/event-stream',
  events: StreamEvent,
  examples: STREAMS,
} as const;

/** The same events for `Upgrade: websocket`. */
export const EVENTS_SOCKET: Answer = {
  status: 101,
  description:
    'With `Upgrade: websocket`: each message is a JSON array of `{"event", "position"}`, the position null for a heartbeat. The client acknowledges with `{"ack": position}`, and sends nothing else.',
};

/** What the request of an `events` path asks for. */
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
