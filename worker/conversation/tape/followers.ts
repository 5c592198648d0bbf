/** The readers of a tape, or of an account: hibernatable sockets. Each one gets the events and the framing that it asked for. */
import * as z from 'zod';
import type { AccountEvent } from '../../../shared/api/account-events.ts';
import { formatEvents } from '../../../shared/api/reader-socket.ts';
import { Framing } from '../../../shared/api/requests.ts';
import { formatEvent } from '../../../shared/api/sse.ts';
import { ResponseId, SessionId } from '../../../shared/ids.ts';
import { CONVERSATION_LIMITS } from '../../../shared/limits.ts';
import { loopGauge } from '../../../shared/load.ts';
import { isDelta, type StreamEvent } from '../../../shared/wire/events.ts';

/**
 * What a follower asked for. Readers on a WebSocket get `positioned` framing. `json` is for the Worker's own use: each
 * message is a JSON array of events. A follower of one response is closed with 1000 after its `done`. After any other
 * close the follower attaches again with its cursor.
 */
export const Following = z.object({
  framing: Framing.or(z.enum(['positioned', 'json'])),
  responseId: ResponseId.nullable(),
  /** The session of the follower's token. */
  session: SessionId.optional(),
  /** The ticket that let the follower in, and when: one follower at a time has it. */
  ticket: z.object({ id: z.string(), usedMs: z.int() }).optional(),
});
export type Following = z.infer<typeof Following>;

/** An event to send, with its cursor and the id of its response. */
export interface Outgoing {
  readonly event: StreamEvent | AccountEvent;
  readonly position: number | null;
  readonly responseId: string | null;
}

/** The close code of a socket after the `done` of the response that it follows. */
export const DONE_CLOSE = 1000;

/** The close code of a socket whose session has ended, or whose ticket has let in another one. Its follower does not attach again. */
export const SESSION_CLOSE = 4001;

/** RFC 6455, section 7.4.1. */
const GOING_AWAY = 1001;

const TAG = 'follower';

/** Owns the follower sockets of one object. Queues only the events of the last loopGauge.coalesceMs. */
export class Followers {
  readonly #state: DurableObjectState;
  /** The open sockets, cached: each look at the runtime's list costs 15 µs. Null until they are looked up. */
  #known: Map<WebSocket, Following> | null = null;
  #waiting: Outgoing[] = [];
  #timer: ReturnType<typeof setTimeout> | undefined;
  #sentAt = 0;

  constructor(state: DurableObjectState) {
    this.#state = state;
  }

  /** Accepts the socket and sends it the past. Call it in the same synchronous step as the read of that past. */
  attach(socket: WebSocket, following: Following, past: readonly Outgoing[]): void {
    this.flush();
    const isNewest = this.#replaceOlder(following);
    this.#state.acceptWebSocket(socket, [TAG]);
    socket.serializeAttachment(following);
    if (!isNewest) return socket.close(SESSION_CLOSE, 'replaced');
    this.#sockets.set(socket, following);
    for (const part of partsOf(mergeDeltas(past), following)) {
      this.#sendTo(socket, following, part, new Map());
    }
  }

  /** Closes the sockets of earlier uses of the same ticket. False if there is a later one: its reader has come back. */
  #replaceOlder({ ticket }: Following): boolean {
    if (!ticket) return true;
    const others = [...this.#sockets].filter(([, following]) => following.ticket?.id === ticket.id);
    const isOlder = ([, following]: (typeof others)[0]) =>
      (following.ticket?.usedMs ?? 0) <= ticket.usedMs;
    if (!others.every(isOlder)) return false;
    for (const [socket] of others) {
      this.detach(socket);
      socket.close(SESSION_CLOSE, 'replaced');
    }
    return true;
  }

  /** Whether someone follows this response, or the whole conversation. */
  has(responseId: string): boolean {
    return [...this.#sockets.values()].some(
      (following) => following.responseId === null || following.responseId === responseId,
    );
  }

  /** Forgets a closed socket. */
  detach(socket: WebSocket): void {
    this.#known?.delete(socket);
  }

  /** Sends at once when nothing was sent in the last coalesceMs; else all together when that time is over. */
  send(batch: readonly Outgoing[]): void {
    this.#waiting.push(...batch);
    if (this.#timer !== undefined) return;
    // `sentAt` lies in the future when the clock was set back meanwhile.
    const sinceMs = Math.max(0, Date.now() - this.#sentAt);
    const { coalesceMs } = loopGauge;
    if (sinceMs >= coalesceMs) this.flush();
    else this.#timer = setTimeout(() => this.flush(), coalesceMs - sinceMs);
  }

  /** Closes all sockets of a deleted conversation. A follower that attaches again gets NOT_FOUND. */
  close(): void {
    this.flush();
    for (const socket of this.#sockets.keys()) socket.close(GOING_AWAY, 'deleted');
  }

  /** Closes the sockets of a session for good, or for null all. */
  endSession(session: string | null): void {
    for (const [socket, following] of this.#sockets) {
      if (session === null || following.session === session)
        socket.close(SESSION_CLOSE, 'session ended');
    }
  }

  /** Sends the waiting events. */
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

  /** `texts` caches the text for other followers with the same framing and response. */
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
      // The socket has closed: its adapter attaches again with its cursor, or is gone.
      this.detach(socket);
    }
  }
}

/** The past in few events: merges adjacent deltas of one document. */
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

/** Splits the past into messages of maxShownBytes, which memory holds for slow readers; one for `json`. */
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

/** The merged delta; undefined where another event stands between the two, because positions stay exact. */
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
