/** Holds a reader's SSE response outside the object, so that the object can sleep and survive a deploy unnoticed. */
import { waitUntil } from 'cloudflare:workers';
import type { Framing } from '../../shared/requests.ts';
import { formatEvent, lastCursorIn } from '../../shared/sse.ts';
import type { Env } from '../env.ts';
import { type Attached, attachFirst, type Followed, listen } from './attach.ts';
import { type Delivery, deliver } from './deliver.ts';
import { FOLLOW_LIMITS } from './limits.ts';
import { SSE_HEADERS, SseWriter } from './sse-writer.ts';

export interface SseFollowed extends Followed {
  readonly framing: Framing;
  /** The reader's position. */
  readonly cursor: number;
}

/**
 * Streams events to a follower. The stream ends with the followed response, with the request's signal, if the reader
 * takes nothing for FOLLOW_LIMITS.stalledMs, or after FOLLOW_LIMITS.maxLifeMs. An unfinished client returns with its
 * cursor.
 */
export async function followAsSse(
  request: Request,
  env: Env,
  followed: SseFollowed,
  headers: Readonly<Record<string, string>> = {},
): Promise<Response> {
  const { framing, cursor } = followed;
  const first = await attachFirst(env, followed, framing, cursor, request.signal);
  if (first.type === 'response') return first.response;
  const init = { headers: { ...headers, ...SSE_HEADERS } };
  if (request.method === 'HEAD') {
    await listen(first.socket, () => undefined, AbortSignal.abort());
    return new Response(null, init);
  }
  const writer = new SseWriter();
  // Without waitUntil, a reader that leaves would cut off an attach under way, and its socket would stay open.
  waitUntil(passOn(env, followed, first, writer, request.signal));
  return new Response(writer.readable, init);
}

/** Always ends the stream and closes the socket. Never throws. */
async function passOn(
  env: Env,
  followed: SseFollowed,
  first: Attached,
  writer: SseWriter,
  requestSignal: AbortSignal,
): Promise<void> {
  const { framing } = followed;
  const life = new AbortController();
  const end = () => life.abort();
  requestSignal.addEventListener('abort', end);
  if (requestSignal.aborted) end(); // The reader left during attachFirst.
  const recycle = setTimeout(end, FOLLOW_LIMITS.maxLifeMs);
  let cursor = followed.cursor;
  const delivery: Delivery = {
    framing,
    cursor: () => cursor,
    take(text) {
      writer.write(text);
      cursor = lastCursorIn(text) ?? cursor;
    },
    beat: () => writer.write(formatEvent({ type: 'heartbeat' }, null, framing)),
  };
  try {
    writer.write(`retry: ${FOLLOW_LIMITS.retryMs}\n\n`);
    await deliver(env, followed, first, delivery, writer, life);
  } finally {
    clearTimeout(recycle);
    await writer.end(life.signal);
  }
}
