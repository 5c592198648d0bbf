/** A fetch whose answers are bounded: a message of a server behind HTTP is as long as one on stdio. */
import type { FetchLike } from '@modelcontextprotocol/client';
import { MCP_LIMITS } from '../limits.ts';

/**
 * Reading the body fails once a message in it is too long, and `onTooLong` is called, because the SDK would wait on. An
 * event stream as a whole may be of any length.
 */
export function boundedFetch(onTooLong: (reason: string) => void, own: FetchLike = fetch) {
  return async (url: string | URL, init?: RequestInit): Promise<Response> => {
    const response = await own(url, init);
    const { body, headers, status, statusText } = response;
    if (body === null) return response;
    const isStream = headers.get('content-type')?.startsWith('text/event-stream') === true;
    const bounded = body.pipeThrough(messageBound(isStream, onTooLong));
    return new Response(bounded, { headers, status, statusText });
  };
}

/** Counts the bytes since the last empty line, which ends an event; in another body all bytes. */
function messageBound(
  isStream: boolean,
  onTooLong: (reason: string) => void,
): TransformStream<Uint8Array, Uint8Array> {
  let bytes = 0;
  let previous = 0;
  return new TransformStream({
    transform: (chunk, controller) => {
      bytes += chunk.length;
      if (isStream) {
        for (const [at, byte] of chunk.entries()) {
          if (byte === CARRIAGE_RETURN) continue;
          if (byte === LINE_FEED && previous === LINE_FEED) bytes = chunk.length - at - 1;
          previous = byte;
        }
      }
      if (bytes <= MCP_LIMITS.maxMessageBytes) return controller.enqueue(chunk);
      const reason = `it sent a message longer than ${MCP_LIMITS.maxMessageBytes} bytes`;
      controller.error(new Error(reason));
      onTooLong(reason);
    },
  });
}

const LINE_FEED = 0x0a;
const CARRIAGE_RETURN = 0x0d;
