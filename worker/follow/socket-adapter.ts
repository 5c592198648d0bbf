/** Holds a reader's WebSocket, so that the object can sleep, be reset, and be left while the reader lags. */
import { waitUntil } from 'cloudflare:workers';
import { formatEvents, READER_CLOSE, type ReaderClose } from '../../shared/api/reader-socket.ts';
import type { Env } from '../env.ts';
import { type Attached, attachFirst, type Followed } from './attach.ts';
import { type Delivered, type DeliveryHandler, deliver } from './deliver.ts';
import { FOLLOW_LIMITS } from './limits.ts';
import { ReaderSocket } from './reader-socket.ts';

export interface SocketFollowed extends Followed {
  /** The reader's position. */
  readonly cursor: number;
}

/** Answers a reader's upgrade with a socket or the object's refusal. A reader with everything gets a closed socket. */
export async function followAsSocket(
  request: Request,
  env: Env,
  followed: SocketFollowed,
): Promise<Response> {
  const { cursor } = followed;
  const first = await attachFirst(env, followed, 'positioned', cursor, request.signal);
  if (first.type === 'response' && !first.response.ok) return first.response;
  const { 0: client, 1: server } = new WebSocketPair();
  const reader = new ReaderSocket(server, cursor);
  if (request.signal.aborted) reader.close(READER_CLOSE.done); // The reader left during attachFirst.
  // Without waitUntil, a reader that leaves would cut off an attach under way, and its socket would stay open.
  waitUntil(passOn(env, followed, first, reader));
  return new Response(null, { status: 101, webSocket: client });
}

/** Always closes both sockets and clears the timer. */
async function passOn(
  env: Env,
  followed: Followed,
  first: Attached,
  reader: ReaderSocket,
): Promise<void> {
  const recycle = setTimeout(() => reader.close(READER_CLOSE.comeBack), FOLLOW_LIMITS.maxLifeMs);
  const delivery: DeliveryHandler = {
    framing: 'positioned',
    cursor: () => reader.cursor,
    take: (text) => reader.send(text),
    beat: () => reader.send(HEARTBEAT),
  };
  try {
    reader.close(CLOSES[await deliver(env, followed, first, delivery, reader, reader.life)]);
  } finally {
    clearTimeout(recycle);
    reader.close(READER_CLOSE.comeBack);
  }
}

const HEARTBEAT = formatEvents([{ event: { type: 'heartbeat' }, position: null }]);

const CLOSES: Readonly<Record<Delivered, ReaderClose>> = {
  done: READER_CLOSE.done,
  gone: READER_CLOSE.deleted,
  stalled: READER_CLOSE.stalled,
  expired: READER_CLOSE.expired,
  left: READER_CLOSE.done,
  lost: READER_CLOSE.comeBack,
};
