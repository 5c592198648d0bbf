/** The query, headers and answers that all `events` paths share, and the cursor of their reader. */
import type { Context } from 'hono';
import type * as z from 'zod';
import { Cursor, EventsQuery } from '../../shared/api/requests.ts';
import { StreamEvent } from '../../shared/wire/events.ts';
import type { AppContext } from '../account/caller.ts';
import { parse } from '../desk/parse.ts';
import { describeQuery, type EndpointAnswer, type Header } from '../endpoint.ts';
import { STREAMS } from './examples.ts';

const CURSOR = {
  type: 'integer',
  minimum: 0,
  maximum: Number.MAX_SAFE_INTEGER,
} as const;

/** The query of every `events` path. */
export const EVENTS_QUERY = describeQuery({
  schema: EventsQuery,
  described: {
    after: {
      description: 'The id of the last event seen. The events after it are sent.',
      schema: CURSOR,
    },
    framing: { description: 'Named events, or unnamed events with the type inside the data.' },
  },
});

/** A browser's EventSource sends this header by itself. */
export const LAST_EVENT_ID: Header = {
  name: 'Last-Event-ID',
  description: 'The id of the last event seen. It takes precedence over `after` in the query.',
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
export const EVENTS_SOCKET: EndpointAnswer = {
  status: 101,
  description:
    'With `Upgrade: websocket`: each message is a JSON array of `{"event", "position"}`. The position is null for a heartbeat. The client acknowledges with `{"ack": position}`, and sends nothing else.',
};

/** The parsed query of an `events` path. */
export function eventsQuery(c: Context<AppContext>): z.infer<typeof EventsQuery> {
  return parse(EventsQuery, c.req.query());
}

/** The reader's cursor, or 0. `Last-Event-ID` wins: an EventSource that reconnects sends its first `after` again. */
export function cursorOf(c: Context<AppContext>, after: number | undefined): number {
  const lastEventId = c.req.header('last-event-id');
  return lastEventId ? parse(Cursor, lastEventId) : (after ?? 0);
}
