/** Reads the body of one connection as frames. Silence ends the reading. */
import { createParser } from 'eventsource-parser';
import { JSON_LIMITS } from '../shared/limits.ts';
import { parseJson } from '../shared/text/json.ts';
import type { ReadEvent } from '../shared/wire/events.ts';
import type { Clock } from './clock.ts';
import { readEvent } from './shapes.ts';
import { unlessSilent } from './silence.ts';

/** One event on the wire. `position` is undefined for a heartbeat. */
export interface Frame {
  readonly position: number | undefined;
  readonly event: ReadEvent;
}

export interface ReadOptions {
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** Gets the delay in milliseconds that the server asks for before the next connection. */
  readonly onRetry?: (retryMs: number) => void;
}

/**
 * Reads frames until the body ends, fails or is silent for too long; the last two throw. Drops an event that the end
 * cuts off: it comes whole on the next connection. An abort ends the reading without an error.
 */
export async function* readFrames(
  body: ReadableStream<Uint8Array>,
  { clock, signal, onRetry }: ReadOptions,
): AsyncGenerator<Frame, void, undefined> {
  const frames: Frame[] = [];
  const parser = createParser({
    onEvent: ({ id, event, data }) =>
      frames.push({ position: parsePosition(id), event: parseEvent(event ?? 'message', data) }),
    onRetry,
  });
  const decoder = new TextDecoder();
  const reader = body.getReader();
  // A `fetch` that the caller passes in may not end its bodies at the signal, so the reader does.
  const onAbort = () => closeQuietly(reader);
  signal.addEventListener('abort', onAbort, { once: true });
  try {
    while (!signal.aborted) {
      const { done, value } = await unlessSilent(reader.read(), clock);
      if (done) return;
      parser.feed(decoder.decode(value, { stream: true }));
      yield* frames.splice(0);
    }
  } finally {
    signal.removeEventListener('abort', onAbort);
    closeQuietly(reader);
  }
}

function parsePosition(id: string | undefined): number | undefined {
  return id !== undefined && /^\d+$/.test(id) ? Number(id) : undefined;
}

function parseEvent(name: string, data: string): ReadEvent {
  try {
    return readEvent(name, parseJson(data, JSON_LIMITS.maxDepth + JSON_LIMITS.envelope));
  } catch {
    return { type: 'unknown', name, data };
  }
}

/** If the connection has failed already, cancelling fails too: nothing is left to close. */
function closeQuietly(reader: ReadableStreamDefaultReader<Uint8Array>): void {
  reader.cancel().catch(() => undefined);
}
