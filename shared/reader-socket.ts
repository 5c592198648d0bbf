/** Following over a WebSocket: what the server sends, the one thing a reader says, and why the socket is closed. */
import * as z from 'zod';
import type { StreamEvent } from './events.ts';
import { parseJson } from './json.ts';

/** An event with the cursor to come back with behind it; null leaves the reader's cursor where it is. */
export interface PositionedEvent {
  readonly event: StreamEvent;
  readonly position: number | null;
}

/** One message from the server: events in their order, none of which was sent before. */
export function formatEvents(events: readonly PositionedEvent[]): string {
  // The position stands last, so that it can be read off the end of a text of any size.
  return JSON.stringify(events.map(({ event, position }) => ({ event, position })));
}

/** The position of the last event in what {@link formatEvents} wrote; undefined where it has none. */
export function lastPositionIn(text: string): number | undefined {
  const digits = /"position":(\d+)\}\]$/.exec(text.slice(-LONGEST_END))?.[1];
  return digits === undefined ? undefined : Number(digits);
}

const LONGEST_END = `"position":${Number.MAX_SAFE_INTEGER}}]`.length;

/** All that a reader may send: everything up to this position has arrived. */
const Ack = z.strictObject({ ack: z.int().nonnegative() });

/** The position that a reader acknowledges; undefined for any other text. */
export function parseAck(text: string): number | undefined {
  try {
    return Ack.safeParse(parseJson(text)).data?.ack;
  } catch {
    return undefined; // Not even JSON.
  }
}

/** How the server closes a reader's socket (RFC 6455, section 7.4). */
export const READER_CLOSE = {
  /** The followed response has ended, and everything of it was sent. */
  done: { code: 1000, reason: 'done' },
  /** The socket has lived long enough, or its conversation could not be reached. */
  comeBack: { code: 1001, reason: 'come back with the cursor' },
  binary: { code: 1003, reason: 'only text is taken' },
  notAnAck: { code: 1008, reason: 'expected {"ack": position}' },
  /** Nobody can have received what was not sent. */
  ackTooFar: { code: 1008, reason: 'the ack is beyond what was sent' },
  tooLarge: { code: 1009, reason: 'a message may only hold {"ack": position}' },
  /** The conversation is gone: there is nothing to come back to. */
  deleted: { code: 4004, reason: 'deleted' },
  /** Too much waits for an ack, and for too long: come back with the cursor. */
  stalled: { code: 4008, reason: 'nothing was acknowledged' },
} as const;

export type ReaderClose = (typeof READER_CLOSE)[keyof typeof READER_CLOSE];
