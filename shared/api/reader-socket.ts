/** The messages of a reader's WebSocket: the server's events, the reader's ack, and the close codes. */
import * as z from 'zod';
import { parseJson } from '../text/json.ts';
import type { StreamEvent } from '../wire/events.ts';
import type { AccountEvent } from './account-events.ts';

/** An event and the cursor for a reader that returns after it. Null does not change the reader's cursor. */
export interface PositionedEvent<Event = StreamEvent> {
  readonly event: Event;
  readonly position: number | null;
}

/** One message from the server: events in order, none of them sent before. */
export function formatEvents(
  events: readonly PositionedEvent<StreamEvent | AccountEvent>[],
): string {
  // The position comes last, so that the end of a text of any size shows it.
  return JSON.stringify(events.map(({ event, position }) => ({ event, position })));
}

/** Several texts of {@link formatEvents} as one; empty without any. */
export function joinEvents(texts: readonly string[]): string {
  return texts.length === 0 ? '' : `[${texts.map((text) => text.slice(1, -1)).join()}]`;
}

/** The position of the last event in a text of {@link formatEvents}; undefined if that event has none. */
export function lastPositionIn(text: string): number | undefined {
  const digits = /"position":(\d+)\}\]$/.exec(text.slice(-LONGEST_END))?.[1];
  return digits === undefined ? undefined : Number(digits);
}

const LONGEST_END = `"position":${Number.MAX_SAFE_INTEGER}}]`.length;

/** The only message of a reader: everything up to this position has arrived. */
const Ack = z.strictObject({ ack: z.int().nonnegative() });

/** The position that a reader acknowledges; undefined for any other text. */
export function parseAck(text: string): number | undefined {
  try {
    return Ack.safeParse(parseJson(text)).data?.ack;
  } catch {
    return undefined; // Not JSON.
  }
}

/** How the server closes a reader's socket (RFC 6455, section 7.4). */
export const READER_CLOSE = {
  /** The followed response is over, and all its events were sent. */
  done: { code: 1000, reason: 'done' },
  /** The socket has reached its age limit, or its conversation could not be reached. */
  comeBack: { code: 1001, reason: 'come back with the cursor' },
  binary: { code: 1003, reason: 'only text is taken' },
  notAnAck: { code: 1008, reason: 'expected {"ack": position}' },
  /** The reader acknowledged a position that was never sent. */
  ackTooFar: { code: 1008, reason: 'the ack is beyond what was sent' },
  tooLarge: { code: 1009, reason: 'a message may only hold {"ack": position}' },
  /** The reader's token has expired: only a new one opens the stream again. */
  expired: { code: 4001, reason: 'the token has ended' },
  /** The conversation was deleted: the reader need not return. */
  deleted: { code: 4004, reason: 'deleted' },
  /** Too much waited too long for an ack. The reader returns with its cursor. */
  stalled: { code: 4008, reason: 'nothing was acknowledged' },
} as const;

export type ReaderClose = (typeof READER_CLOSE)[keyof typeof READER_CLOSE];
