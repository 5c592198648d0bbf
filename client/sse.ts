/** One connection's body as frames: bytes, lines, events; silence ends it. */
import { createParser } from 'eventsource-parser';
import type { StreamEvent } from '../shared/events.ts';
import { parseNamedEvent } from '../shared/sse.ts';
import type { Clock } from './clock.ts';
import { unlessSilent } from './silence.ts';

/** One event on the wire. Either half may be missing: a heartbeat has no position, a newer type no event here. */
export interface Frame {
  readonly position: number | undefined;
  readonly event: StreamEvent | undefined;
}

export interface ReadOptions {
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** The server's wish for the delay before the next connection, in milliseconds. */
  readonly onRetry?: (retryMs: number) => void;
}

/**
 * Reads frames until the body ends, fails or is silent for too long; the last two throw. An event that is cut off
 * by the end never happened: it comes whole on the next connection. An abort ends the reading without an error.
 */
export async function* readFrames(
  body: ReadableStream<Uint8Array>,
  { clock, signal, onRetry }: ReadOptions,
): AsyncGenerator<Frame, void, undefined> {
  const frames: Frame[] = [];
  const parser = createParser({
    onEvent: ({ id, event, data }) =>
      frames.push({ position: parsePosition(id), event: parseEvent(event, data) }),
    onRetry,
  });
  const decoder = new TextDecoder();
  const reader = body.getReader();
  // Not every `fetch` that can be passed in ends its bodies on the signal, so the reader does.
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

/** Data that is not JSON can only belong to a type that this version does not know: the known ones are all JSON. */
function parseEvent(name: string | undefined, data: string): StreamEvent | undefined {
  try {
    return parseNamedEvent(name ?? 'message', data);
  } catch {
    return undefined;
  }
}

/** The connection may have failed already, and then so does its cancelling; there is nothing left to close. */
function closeQuietly(reader: ReadableStreamDefaultReader<Uint8Array>): void {
  reader.cancel().catch(() => undefined);
}
