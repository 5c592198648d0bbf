/** Delivers events to a reader, across resets of the object, and no faster than the reader takes them. */

import type { Following } from '../conversation/tape/followers.ts';
import type { Env } from '../env.ts';
import { type AttachEnd, type Attached, attachAgain, type Followed, listen } from './attach.ts';
import { FOLLOW_LIMITS } from './limits.ts';

/** The reader's connection, as far as it shows how the reader keeps up. */
export interface Outlet {
  /** UTF-16 units that the reader has not taken yet. */
  readonly buffered: number;
  /** How long the reader has taken nothing although something waits for it. */
  readonly stalledForMs: number;
  /** Resolves when there is room again, or the reader is gone. */
  drained(): Promise<void>;
}

/** Handles the messages of one delivery. None of its methods may throw. */
export interface DeliveryHandler {
  readonly framing: Following['framing'];
  /** The position to go on from after a socket was lost. */
  cursor(): number;
  /** Formats one message and writes it to the outlet. */
  take(text: string): void;
  /** Called every FOLLOW_LIMITS.heartbeatMs, to show that the connection is alive. */
  beat(): void;
}

/**
 * Why a delivery ended. `done`: the response has finished. `gone`: the conversation no longer exists. `stalled`: the
 * reader took nothing for FOLLOW_LIMITS.stalledMs. `expired`: the reader's token has expired, or its session has ended.
 * `left`: other code aborted `life`. `lost`: the object stays away.
 */
export type Delivered = 'done' | 'gone' | 'stalled' | 'expired' | 'left' | 'lost';

/** Resolves when the delivery has finished. Aborts `life` if the reader stalls or its token ends. */
export async function deliver(
  env: Env,
  followed: Followed,
  first: Attached,
  delivery: DeliveryHandler,
  outlet: Outlet,
  life: AbortController,
): Promise<Delivered> {
  const { framing } = delivery;
  const cursor = () => delivery.cursor();
  const heartbeat = setInterval(() => {
    if (isStalled(outlet) || hasExpired(followed)) return life.abort();
    delivery.beat();
  }, FOLLOW_LIMITS.heartbeatMs);
  try {
    let attached: Attached | null = first;
    // Also after the life has finished, because passOn closes the socket.
    while (attached?.type === 'socket') {
      const ending = await passOn(attached.socket, delivery, outlet, life.signal);
      if (ending !== 'lost') return ending;
      await Promise.race([outlet.drained(), aborted(life.signal)]);
      attached = await attachAgain(env, followed, framing, cursor, life.signal);
    }
    if (life.signal.aborted) {
      if (isStalled(outlet)) return 'stalled';
      return hasExpired(followed) ? 'expired' : 'left';
    }
    if (attached?.response.ok) return 'done';
    return GONE.has(attached?.response.status ?? 0) ? 'gone' : 'lost';
  } finally {
    clearInterval(heartbeat);
  }
}

/** The conversation was deleted, or its text. */
const GONE: ReadonlySet<number> = new Set([404, 410]);

function isStalled({ stalledForMs }: Outlet): boolean {
  return stalledForMs > FOLLOW_LIMITS.stalledMs;
}

function hasExpired({ caller: { expiresMs = Number.POSITIVE_INFINITY } }: Followed): boolean {
  return Date.now() >= expiresMs;
}

/** Passes one socket's messages on. Closes the socket if the reader falls far behind; the cursor keeps its place. */
async function passOn(
  socket: WebSocket,
  delivery: DeliveryHandler,
  outlet: Outlet,
  life: AbortSignal,
): Promise<AttachEnd> {
  const behind = new AbortController();
  return await listen(
    socket,
    (text) => {
      delivery.take(text);
      if (outlet.buffered > FOLLOW_LIMITS.maxBufferedChars) behind.abort();
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
