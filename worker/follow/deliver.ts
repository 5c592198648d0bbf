/** A follower's messages on their way to a reader: through resets of the object, and no faster than they are taken. */
import { FOLLOW_LIMITS } from '../../shared/limits.ts';
import type { Following } from '../conversation/followers.ts';
import type { Env } from '../env.ts';
import { type Attached, attachAgain, type Followed, listen } from './attach.ts';
import type { SseWriter } from './sse-writer.ts';

/** What becomes of the messages. None of its methods may throw. */
export interface Delivery {
  readonly framing: Following['framing'];
  /** Where to go on behind a socket that was lost. */
  cursor(): number;
  /** Takes one message, and gives the writer what it makes of it. */
  take(text: string): void;
  /** Called every FOLLOW_LIMITS.heartbeatMs, to show that the connection lives. */
  beat(): void;
}

/**
 * Resolves when the followed response has ended, when its object lets nobody follow any more, or when `life` aborts. It
 * ends the life of a reader that took nothing for FOLLOW_LIMITS.stalledMs. The writer stays open.
 */
export async function deliver(
  env: Env,
  followed: Followed,
  first: Attached,
  delivery: Delivery,
  writer: SseWriter,
  life: AbortController,
): Promise<void> {
  const { framing } = delivery;
  const cursor = () => delivery.cursor();
  const heartbeat = setInterval(() => {
    if (writer.stalledForMs > FOLLOW_LIMITS.stalledMs) return life.abort();
    delivery.beat();
  }, FOLLOW_LIMITS.heartbeatMs);
  try {
    let attached: Attached | null = first;
    while (attached?.type === 'socket' && !life.signal.aborted) {
      const ending = await passOn(attached.socket, delivery, writer, life.signal);
      if (ending === 'done') break;
      await Promise.race([writer.drained(), aborted(life.signal)]);
      attached = await attachAgain(env, followed, framing, cursor, life.signal);
    }
  } finally {
    clearInterval(heartbeat);
  }
}

/** Passes one socket's messages on. A reader that falls far behind loses its socket, not its place on the tape. */
async function passOn(
  socket: WebSocket,
  delivery: Delivery,
  writer: SseWriter,
  life: AbortSignal,
): Promise<'done' | 'lost'> {
  const behind = new AbortController();
  return await listen(
    socket,
    (text) => {
      delivery.take(text);
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
