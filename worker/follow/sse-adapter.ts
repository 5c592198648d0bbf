/** Holds a reader's SSE response outside the object, so that the object can sleep and survive a deploy unnoticed. */
import { waitUntil } from 'cloudflare:workers';
import type { Framing } from '../../shared/api/requests.ts';
import { formatEvent, lastCursorIn } from '../../shared/api/sse.ts';
import type { Env } from '../env.ts';
import { type Attached, attachFirst, type Followed, listen } from './attach.ts';
import { type Delivered, type DeliveryHandler, deliver } from './deliver.ts';
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
  const { framing } = followed;
  const first = await attachFirst(env, followed, framing, followed.cursor, request.signal);
  if (first.type === 'response') return first.response;
  const writer = new SseWriter();
  let { cursor } = followed;
  const delivery: DeliveryHandler = {
    framing,
    cursor: () => cursor,
    take(text) {
      writer.write(text);
      cursor = lastCursorIn(text) ?? cursor;
    },
    beat: () => writer.write(formatEvent({ type: 'heartbeat' }, null, framing)),
  };
  const life = new AbortController();
  return await streamDelivery(request, env, { followed, first, delivery, writer, life }, headers);
}

export interface SseDelivery {
  readonly followed: Followed;
  readonly first: Attached;
  readonly delivery: DeliveryHandler;
  readonly writer: SseWriter;
  /** Ends the stream when it is aborted. */
  readonly life: AbortController;
  /** Writes what follows the delivery. Must not throw. */
  readonly finish?: (how: Delivered) => Promise<void>;
}

/** The response that streams the delivery. A HEAD request only gets its headers. */
export async function streamDelivery(
  request: Request,
  env: Env,
  stream: SseDelivery,
  headers: Readonly<Record<string, string>> = {},
): Promise<Response> {
  const init = { headers: { ...headers, ...SSE_HEADERS } };
  if (request.method === 'HEAD') {
    await leave(stream.first);
    return new Response(null, init);
  }
  // Without waitUntil, a reader that leaves would cut off an attach under way, and its socket would stay open.
  waitUntil(passOn(env, stream, request.signal));
  return new Response(stream.writer.readable, init);
}

/** Closes the object's socket unread. */
export async function leave(attached: Attached): Promise<void> {
  if (attached.type === 'response') return;
  await listen(attached.socket, () => undefined, AbortSignal.abort());
}

/** Always ends the stream and closes the socket. Never throws. */
async function passOn(
  env: Env,
  { followed, first, delivery, writer, life, finish }: SseDelivery,
  requestSignal: AbortSignal,
): Promise<void> {
  const end = () => life.abort();
  requestSignal.addEventListener('abort', end);
  if (requestSignal.aborted) end(); // The reader left during attachFirst.
  const recycle = setTimeout(end, FOLLOW_LIMITS.maxLifeMs);
  try {
    writer.write(`retry: ${FOLLOW_LIMITS.retryMs}\n\n`);
    const how = await deliver(env, followed, first, delivery, writer, life);
    await finish?.(how);
  } finally {
    clearTimeout(recycle);
    await writer.end(life.signal);
  }
}
