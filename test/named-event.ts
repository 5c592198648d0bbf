/** Reads an event as strictly as its schema says. */

import { eventOfNamed } from '../shared/api/sse.ts';
import { StreamEvent } from '../shared/wire/events.ts';

/** The event of a named frame; undefined if it does not fit its schema, or no schema has its type. */
export function parseNamedEvent(name: string, data: string): StreamEvent | undefined {
  return StreamEvent.safeParse(eventOfNamed(name, JSON.parse(data))).data;
}
