/** The readers of a tape: hibernatable sockets, each told what it asked for in the framing it asked for. */
import * as z from 'zod';
import { isDelta, type StreamEvent } from '../../../shared/events.ts';
import { ResponseId } from '../../../shared/ids.ts';
import { CONVERSATION_LIMITS } from '../../../shared/limits.ts';
import { formatEvents } from '../../../shared/reader-socket.ts';
import { Framing } from '../../../shared/requests.ts';
import { formatEvent } from '../../../shared/sse.ts';
import { loopGauge } from '../../load.ts';

/**
 * What a follower asked for. `positioned` is what readers get over a WebSocket; `json` is for the Worker's own use: a JSON
 * array of events a message. A follower of one response is closed with 1000 after its `done`; any other close means:
 * attach again with the cursor.
 */
export const Following = z.object({
  framing: Framing.or(z.enum(['positioned', 'json'])),
  responseId: ResponseId.nullable(),
});
export type Following = z.infer<typeof Following>;

/** An event on its way out: with its cursor, and the response it belongs to. */
export interface Outgoing {
  readonly event: StreamEvent;
  readonly position: number | null;
  readonly responseId: string | null;
}

/** Sent with a socket's close after the `done` of the response it follows. */
export const DONE_CLOSE = 1000;

/** RFC 6455, section 7.4.1. */
const GOING_AWAY = 1001;

const TAG = 'follower';

/** Owns the follower sockets of one conversation. What was sent is in their hands; nothing is queued but the last 2 ms. */
export class Followers {
  readonly #state: DurableObjectState;
  /** The runtime's list costs 15 µs to ask for, once for every token. Null until those of an earlier instance are looked up. */
  #known: Map<WebSocket, Following> | null = null;
  #waiting: Outgoing[] = [];
  #timer: ReturnType<typeof setTimeout> | undefined;
  #sentAt = 0;

  constructor(state: DurableObjectState) {
    this.#state = state;
  }

  /** Takes the socket over and sends it the past. Called in the same synchronous step as the read of that past. */
  attach(socket: WebSocket, following: Following, past: readonly Outgoing[]): void {
    this.flush();
    this.#state.acceptWebSocket(socket, [TAG]);
    socket.serializeAttachment(following);
    this.#sockets.set(socket, following);
    for (const part of partsOf(mergeDeltas(past), following)) {
      this.#sendTo(socket, following, part, new Map());
    }
  }

  /** The socket has closed. */
  detach(socket: WebSocket): void {
    this.#known?.delete(socket);
  }

  /** Sends at once when nothing was sent for a moment, else together with what comes until that moment is over. */
  send(batch: readonly Outgoing[]): void {
    this.#waiting.push(...batch);
    if (this.#timer !== undefined) return;
    // Where the clock was set back meanwhile, `sentAt` lies ahead.
    const sinceMs = Math.max(0, Date.now() - this.#sentAt);
    const { coalesceMs } = loopGauge;
    if (sinceMs >= coalesceMs) this.flush();
    else this.#timer = setTimeout(() => this.flush(), coalesceMs - sinceMs);
  }

  /** Lets all of them go. Whoever attaches again learns why. */
  close(): void {
    this.flush();
    for (const socket of this.#sockets.keys()) socket.close(GOING_AWAY, 'deleted');
  }

  /** Sends what waits. */
  flush(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const batch = this.#waiting;
    if (batch.length === 0) return;
    this.#waiting = [];
    if (this.#sockets.size === 0) return;
    this.#sentAt = Date.now();
    const texts = new Map<string, string>();
    for (const [socket, following] of this.#sockets) {
      this.#sendTo(socket, following, batch, texts);
    }
  }

  get #sockets(): Map<WebSocket, Following> {
    this.#known ??= new Map(
      this.#state
        .getWebSockets(TAG)
        .map((socket) => [socket, socket.deserializeAttachment() as Following]),
    );
    return this.#known;
  }

  /** `texts` holds what was already formatted for another follower of the same kind. */
  #sendTo(
    socket: WebSocket,
    following: Following,
    batch: readonly Outgoing[],
    texts: Map<string, string>,
  ): void {
    const key = `${following.framing} ${following.responseId ?? ''}`;
    const text = texts.get(key) ?? formatBatch(batch, following);
    texts.set(key, text);
    try {
      if (text !== '') socket.send(text);
      if (endsFor(batch, following)) socket.close(DONE_CLOSE, 'done');
    } catch {
      // The socket closed under us: its adapter attaches again with its cursor, or is gone.
      this.detach(socket);
    }
  }
}

/** The past in few events: deltas of one document that lie side by side on the tape are one. */
function mergeDeltas(past: readonly Outgoing[]): Outgoing[] {
  const merged: Outgoing[] = [];
  for (const next of past) {
    const last = merged.at(-1);
    const event = last && mergeTwo(last, next);
    if (event) merged[merged.length - 1] = { ...next, event };
    else merged.push(next);
  }
  return merged;
}

/**
 * The past as it is sent: in messages, since a reader that takes nothing holds those that it was sent. Who asks for
 * `json` takes all of it, and looks at what it comes to.
 */
function* partsOf(past: readonly Outgoing[], { framing }: Following): Generator<Outgoing[]> {
  let part: Outgoing[] = [];
  let chars = 0;
  for (const out of past) {
    const more = framing === 'json' ? 0 : JSON.stringify(out.event).length;
    if (part.length > 0 && chars + more > CONVERSATION_LIMITS.maxShownBytes) {
      yield part;
      part = [];
      chars = 0;
    }
    part.push(out);
    chars += more;
  }
  yield part;
}

/** Undefined where something stands between them, if only an event of another response: positions stay exact. */
function mergeTwo(last: Outgoing, { event, position }: Outgoing): StreamEvent | undefined {
  if (!isDelta(last.event) || !isDelta(event)) return undefined;
  if (last.event.type !== event.type || last.event.documentId !== event.documentId)
    return undefined;
  if (position === null || position - event.delta.length !== last.position) return undefined;
  return { ...event, delta: last.event.delta + event.delta };
}

function formatBatch(batch: readonly Outgoing[], { framing, responseId }: Following): string {
  const wanted = batch.filter((out) => responseId === null || out.responseId === responseId);
  if (wanted.length === 0) return '';
  if (framing === 'positioned') return formatEvents(wanted);
  if (framing === 'json') return JSON.stringify(wanted.map((out) => out.event));
  return wanted.map((out) => formatEvent(out.event, out.position, framing)).join('');
}

function endsFor(batch: readonly Outgoing[], { responseId }: Following): boolean {
  return batch.some(({ event }) => event.type === 'done' && event.responseId === responseId);
}
