/** Reads the body of one connection as frames. Silence ends the reading. */
import { createParser } from 'eventsource-parser';
import { parseJson } from '../shared/text/json.ts';
import { JSON_LIMITS } from '../shared/text/limits.ts';
import type { UnknownEvent } from '../shared/wire/events.ts';
import type { Clock } from './clock.ts';
import { unlessSilent } from './silence.ts';

/** One event on the wire. `position` is undefined for a heartbeat. */
export interface Frame<Event> {
  readonly position: number | undefined;
  readonly event: Event | UnknownEvent;
}

/** The event of a named frame, whose data no one has checked. */
export type EventReader<Event> = (name: string, data: unknown) => Event | UnknownEvent;

export interface ReadOptions<Event> {
  readonly read: EventReader<Event>;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** Gets the delay in milliseconds that the server asks for before the next connection. */
  readonly onRetry?: (retryMs: number) => void;
}

/**
 * Reads frames until the body ends, fails or is silent for too long; the last two throw. Drops an event that the end
 * cuts off: it comes whole on the next connection. An abort ends the reading without an error.
 */
export async function* readFrames<Event>(
  body: ReadableStream<Uint8Array>,
  { read, clock, signal, onRetry }: ReadOptions<Event>,
): AsyncGenerator<Frame<Event>, void, undefined> {
  const frames: Frame<Event>[] = [];
  const parser = createParser({
    onEvent: ({ id, event, data }) =>
      frames.push({
        position: /^\d+$/.test(id ?? '') ? Number(id) : undefined,
        event: parseEvent(event ?? 'message', data, read),
      }),
    onRetry,
  });
  // The parser leaves out the one byte order mark that a stream may begin with.
  const decoder = new TextDecoder(undefined, { fatal: false, ignoreBOM: true });
  const reader = body.getReader();
  // If the connection has failed already, cancelling fails too: nothing is left to close.
  const close = () => void reader.cancel().catch(() => {});
  // A `fetch` that the caller passes in may not end its bodies at the signal, so the reader does.
  signal.addEventListener('abort', close);
  try {
    while (!signal.aborted) {
      const { done, value } = await unlessSilent(reader.read(), clock);
      if (done) return;
      parser.feed(decoder.decode(value, { stream: true }));
      yield* frames.splice(0);
    }
  } finally {
    signal.removeEventListener('abort', close);
    close();
  }
}

function parseEvent<Event>(
  name: string,
  data: string,
  read: EventReader<Event>,
): Event | UnknownEvent {
  try {
    return read(name, parseJson(data, JSON_LIMITS.maxDepth + JSON_LIMITS.envelope));
  } catch {
    return { type: 'unknown', name, data };
  }
}
