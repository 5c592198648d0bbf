/** Reads an event as strictly as its schema says. */
import { StreamEvent } from '../shared/events.ts';
import { eventOfNamed } from '../shared/sse.ts';

/** The event of a named frame; undefined if it does not fit its schema, or no schema has its type. */
export function parseNamedEvent(name: string, data: string): StreamEvent | undefined {
  return StreamEvent.safeParse(eventOfNamed(name, JSON.parse(data))).data;
}
