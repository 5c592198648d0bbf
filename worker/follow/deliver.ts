/** A follower's messages on their way to a reader: through resets of the object, and no faster than they are taken. */

import type { Following } from '../conversation/tape/followers.ts';
import type { Env } from '../env.ts';
import { type Attached, attachAgain, type Followed, listen } from './attach.ts';
import { FOLLOW_LIMITS } from './limits.ts';

/** What messages leave by, as far as it tells how its reader keeps up. */
export interface Outlet {
  /** UTF-16 units that the reader has not taken yet. */
  readonly buffered: number;
  /** For how long the reader has taken nothing of what waits for it. */
  readonly stalledForMs: number;
  /** Resolves when there is room again, or the reader is gone. */
  drained(): Promise<void>;
}

/** What becomes of the messages. None of its methods may throw. */
export interface Delivery {
  readonly framing: Following['framing'];
  /** Where to go on behind a socket that was lost. */
  cursor(): number;
  /** Takes one message, and gives the outlet what it makes of it. */
  take(text: string): void;
  /** Called every FOLLOW_LIMITS.heartbeatMs, to show that the connection lives. */
  beat(): void;
}

/**
 * Why a delivery is over: the response has ended; there is nothing to follow any more; the reader took nothing for
 * FOLLOW_LIMITS.stalledMs, or its life was ended by others; or the object could not be followed on.
 */
export type Delivered = 'done' | 'gone' | 'stalled' | 'left' | 'lost';

/** Resolves when it is over. It ends the life of a reader that has stalled. The outlet stays open. */
export async function deliver(
  env: Env,
  followed: Followed,
  first: Attached,
  delivery: Delivery,
  outlet: Outlet,
  life: AbortController,
): Promise<Delivered> {
  const { framing } = delivery;
  const cursor = () => delivery.cursor();
  const heartbeat = setInterval(() => {
    if (isStalled(outlet)) return life.abort();
    delivery.beat();
  }, FOLLOW_LIMITS.heartbeatMs);
  try {
    let attached: Attached | null = first;
    // Also a socket that came after the end of the life is listened to: that closes it.
    while (attached?.type === 'socket') {
      const ending = await passOn(attached.socket, delivery, outlet, life.signal);
      if (ending === 'done') return 'done';
      await Promise.race([outlet.drained(), aborted(life.signal)]);
      attached = await attachAgain(env, followed, framing, cursor, life.signal);
    }
    if (life.signal.aborted) return isStalled(outlet) ? 'stalled' : 'left';
    if (attached?.response.ok) return 'done';
    return attached?.response.status === 404 ? 'gone' : 'lost';
  } finally {
    clearInterval(heartbeat);
  }
}

function isStalled({ stalledForMs }: Outlet): boolean {
  return stalledForMs > FOLLOW_LIMITS.stalledMs;
}

/** Passes one socket's messages on. A reader that falls far behind loses its socket, not its place on the tape. */
async function passOn(
  socket: WebSocket,
  delivery: Delivery,
  outlet: Outlet,
  life: AbortSignal,
): Promise<'done' | 'lost'> {
  const behind = new AbortController();
  return await listen(
    socket,
    (text) => {
      delivery.take(text);
      if (outlet.buffered > FOLLOW_LIMITS.maxBufferedBytes) behind.abort();
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
