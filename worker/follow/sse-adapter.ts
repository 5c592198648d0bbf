/** Holds the SSE response that the object must not hold, so that the object can sleep and a deploy goes unseen. */
import { FOLLOW_LIMITS } from '../../shared/limits.ts';
import type { Framing } from '../../shared/requests.ts';
import { formatEvent, lastCursorIn } from '../../shared/sse.ts';
import type { Env } from '../env.ts';
import { type Attached, attachAgain, attachFirst, type Followed, listen } from './attach.ts';
import { SseWriter } from './sse-writer.ts';

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
  const writer = new SseWriter();
  void passOn(env, followed, first, writer, request.signal);
  return new Response(writer.readable, {
    headers: {
      ...headers,
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-store',
      'x-accel-buffering': 'no',
    },
  });
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
  const heartbeat = setInterval(() => {
    if (writer.stalledForMs > FOLLOW_LIMITS.stalledMs) return end();
    writer.write(formatEvent({ type: 'heartbeat' }, null, framing));
  }, FOLLOW_LIMITS.heartbeatMs);
  const recycle = setTimeout(end, FOLLOW_LIMITS.maxLifeMs);
  let cursor = followed.cursor;
  try {
    writer.write(`retry: ${FOLLOW_LIMITS.retryMs}\n\n`);
    let attached: Attached | null = first;
    while (attached?.type === 'socket' && !life.signal.aborted) {
      const ending = await deliver(attached.socket, writer, life.signal, (text) => {
        cursor = lastCursorIn(text) ?? cursor;
      });
      if (ending === 'done') break;
      await Promise.race([writer.drained(), aborted(life.signal)]);
      attached = await attachAgain(env, followed, framing, () => cursor, life.signal);
    }
  } finally {
    clearInterval(heartbeat);
    clearTimeout(recycle);
    await writer.end(life.signal);
  }
}

/** Passes one socket's messages on. A reader that falls far behind loses its socket, not its place on the tape. */
async function deliver(
  socket: WebSocket,
  writer: SseWriter,
  life: AbortSignal,
  onSent: (text: string) => void,
): Promise<'done' | 'lost'> {
  const behind = new AbortController();
  return await listen(
    socket,
    (text) => {
      writer.write(text);
      onSent(text);
      if (writer.buffered > FOLLOW_LIMITS.maxBufferedBytes) behind.abort();
    },
    AbortSignal.any([life, behind.signal]),
  );
}

function aborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) =>
    signal.addEventListener('abort', () => resolve(), { once: true }),
  );
}
