/** Holds the SSE response that the object must not hold, so that the object can sleep and a deploy goes unseen. */
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
  /** Where the reader stands. */
  readonly cursor: number;
}

/**
 * The response of a follower. It ends with the followed response, with the request's signal, when nothing was taken
 * for FOLLOW_LIMITS.stalledMs, or after FOLLOW_LIMITS.maxLifeMs; a client that is not done returns with its cursor.
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
  // Else a reader that leaves would cut off an attach under way, whose socket nobody would close.
  waitUntil(passOn(env, followed, first, writer, request.signal));
  return new Response(writer.readable, init);
}

/** Never throws: whatever happens, the stream ends and the socket is closed. */
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
  if (requestSignal.aborted) end(); // The reader left while it was attached.
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
