/** A reader's WebSocket. It paces the messages, and counts the text that the reader has not acknowledged yet. */

import {
  joinEvents,
  lastPositionIn,
  parseAck,
  READER_CLOSE,
  type ReaderClose,
} from '../../shared/api/reader-socket.ts';
import type { Outlet } from './deliver.ts';
import { FOLLOW_LIMITS } from './limits.ts';

/** Never throws, whatever the reader sends. After `close`, it neither sends nor reads. */
export class ReaderSocket implements Outlet {
  /** Aborted when the socket has closed. Other code that aborts it must then call `close`. */
  readonly life = new AbortController();
  readonly #socket: WebSocket;
  #cursor: number;
  /** The highest position that was ever sent. After a crash the cursor can be lower. */
  #farthest: number;
  #isClosed = false;
  /** The lists of events that go out together, and what sends them. */
  #held: string[] = [];
  #heldChars = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #sentAtMs = 0;
  #unacked: { readonly position: number; readonly size: number }[] = [];
  #buffered = 0;
  /** Set while too much is unacknowledged: the time of the last progress, and the promise of `drained`. */
  #behind: { quietSinceMs: number; readonly caughtUp: PromiseWithResolvers<void> } | null = null;

  /** Takes over the server's end of a WebSocket pair. The reader has seen everything up to `cursor`. */
  constructor(socket: WebSocket, cursor: number) {
    this.#socket = socket;
    this.#cursor = cursor;
    this.#farthest = cursor;
    socket.addEventListener('message', ({ data }) => this.#hear(data));
    socket.addEventListener('close', () => this.close(READER_CLOSE.done));
    socket.addEventListener('error', () => this.close(READER_CLOSE.comeBack));
    socket.accept();
  }

  /** The position after the last event that was sent or is held. */
  get cursor(): number {
    return this.#cursor;
  }

  /** UTF-16 units that were not acknowledged. */
  get buffered(): number {
    return this.#buffered;
  }

  get stalledForMs(): number {
    return this.#behind ? Date.now() - this.#behind.quietSinceMs : 0;
  }

  /** Resolves when the acks have caught up. */
  drained(): Promise<void> {
    return this.#behind?.caughtUp.promise ?? Promise.resolve();
  }

  /** At once if nothing was sent within FOLLOW_LIMITS.paceMs; else together with all that comes until then. */
  send(text: string): void {
    if (this.#isClosed) return;
    const position = lastPositionIn(text);
    if (position !== undefined) this.#count(position, text.length);
    const { paceMs, pieceBytes } = FOLLOW_LIMITS;
    if (this.#heldChars + text.length > pieceBytes) this.#flush();
    this.#held.push(text);
    this.#heldChars += text.length;
    // The clock may have been set back.
    const sinceMs = Math.max(0, Date.now() - this.#sentAtMs);
    if (sinceMs >= paceMs) this.#flush();
    else this.#timer ??= setTimeout(() => this.#flush(), paceMs - sinceMs);
  }

  /** Closes the socket, behind all that is held. Only the first call has an effect. */
  close({ code, reason }: ReaderClose): void {
    if (this.#isClosed) return;
    this.#flush();
    this.#isClosed = true;
    this.life.abort();
    this.#behind?.caughtUp.resolve();
    try {
      this.#socket.close(code, reason);
    } catch {
      // The socket is already closed.
    }
  }

  #flush(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const text = joinEvents(this.#held);
    this.#held = [];
    this.#heldChars = 0;
    if (text === '') return;
    this.#sentAtMs = Date.now();
    try {
      this.#socket.send(text);
    } catch {
      this.close(READER_CLOSE.comeBack); // The socket is already closed.
    }
  }

  #hear(data: unknown): void {
    if (this.#isClosed) return;
    if (typeof data !== 'string') return this.close(READER_CLOSE.binary);
    if (data.length > FOLLOW_LIMITS.maxAckChars) return this.close(READER_CLOSE.tooLarge);
    const position = parseAck(data);
    if (position === undefined) return this.close(READER_CLOSE.notAnAck);
    if (position > this.#farthest) return this.close(READER_CLOSE.ackTooFar);
    this.#acknowledge(position);
  }

  #count(position: number, size: number): void {
    // A crash took positions back. An ack of the snapshot that follows also acknowledges everything sent before it.
    if (position < this.#cursor) {
      this.#unacked = this.#unacked.map(({ size }) => ({ position, size }));
    }
    this.#cursor = position;
    this.#farthest = Math.max(this.#farthest, position);
    this.#unacked.push({ position, size });
    this.#buffered += size;
    if (this.#buffered <= FOLLOW_LIMITS.maxBufferedChars) return;
    this.#behind ??= { quietSinceMs: Date.now(), caughtUp: Promise.withResolvers() };
  }

  /** A repeated ack changes nothing, so it cannot keep a stalled reader alive. */
  #acknowledge(position: number): void {
    const first = this.#unacked.findIndex((message) => message.position > position);
    const arrived = this.#unacked.splice(0, first < 0 ? this.#unacked.length : first);
    if (arrived.length === 0) return;
    for (const { size } of arrived) this.#buffered -= size;
    if (!this.#behind) return;
    this.#behind.quietSinceMs = Date.now();
    if (this.#buffered > FOLLOW_LIMITS.resumeChars) return;
    this.#behind.caughtUp.resolve();
    this.#behind = null;
  }
}
