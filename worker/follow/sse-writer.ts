/** Writes a streamed response: one write at a time, with all text that has come since the last one. */

import type { Outlet } from './deliver.ts';
import { FOLLOW_LIMITS } from './limits.ts';

/** The headers of every SSE response. `x-accel-buffering` keeps nginx from buffering it. */
export const SSE_HEADERS = {
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-store',
  'x-accel-buffering': 'no',
} as const;

const ENCODER = new TextEncoder();

export class SseWriter implements Outlet {
  readonly readable: ReadableStream<Uint8Array>;
  readonly #writer: WritableStreamDefaultWriter<Uint8Array>;
  readonly #encode: (text: string) => Uint8Array;
  #waiting = '';
  #busySinceMs: number | null = null;
  #isGone = false;
  #drained: Promise<void> = Promise.resolve();

  /** `encode` gets the text of several writes together. By default it encodes UTF-8. */
  constructor(encode = (text: string): Uint8Array => ENCODER.encode(text)) {
    this.#encode = encode;
    const { readable, writable } = new IdentityTransformStream();
    this.readable = readable;
    this.#writer = writable.getWriter();
  }

  /** UTF-16 units that wait, without those of the write under way. */
  get buffered(): number {
    return this.#waiting.length;
  }

  /** Whether a write has failed, because the reader has left. */
  get isGone(): boolean {
    return this.#isGone;
  }

  /** How long the write under way has waited for the reader. Infinite if the reader is gone. */
  get stalledForMs(): number {
    if (this.#isGone) return Number.POSITIVE_INFINITY;
    return this.#busySinceMs === null ? 0 : Date.now() - this.#busySinceMs;
  }

  write(text: string): void {
    this.#waiting += text;
    if (this.#busySinceMs === null) this.#drained = this.#drain();
  }

  /** Resolves when the reader has taken everything, or is gone. */
  drained(): Promise<void> {
    return this.#drained;
  }

  /** Writes the waiting text, then closes. Drops it if the signal aborts, or the reader takes nothing for stalledMs. */
  async end(signal: AbortSignal): Promise<void> {
    const drop = () => void this.#writer.abort(signal.reason).catch(() => undefined);
    const watch = setInterval(() => {
      if (this.stalledForMs > FOLLOW_LIMITS.stalledMs) drop();
    }, FOLLOW_LIMITS.heartbeatMs);
    signal.addEventListener('abort', drop);
    try {
      if (signal.aborted && this.#busySinceMs !== null) drop();
      await this.#drained;
      await this.#writer.close();
    } catch {
      // The reader is gone, so the stream needs no close.
    } finally {
      clearInterval(watch);
      signal.removeEventListener('abort', drop);
    }
  }

  async #drain(): Promise<void> {
    try {
      while (this.#waiting !== '') {
        const text = this.#waiting;
        this.#waiting = '';
        for (const piece of piecesOf(this.#encode(text))) {
          this.#busySinceMs = Date.now();
          await this.#writer.write(piece);
        }
      }
    } catch {
      // The reader is gone. If the request's signal does not abort, the next heartbeat ends the delivery.
      this.#isGone = true;
      this.#waiting = '';
    } finally {
      this.#busySinceMs = null;
    }
  }
}

/** A write ends when all of it was taken. Small writes distinguish a slow reader from one that has stopped. */
function* piecesOf(bytes: Uint8Array): Generator<Uint8Array> {
  const { pieceBytes } = FOLLOW_LIMITS;
  for (let at = 0; at < bytes.length; at += pieceBytes) yield bytes.subarray(at, at + pieceBytes);
}
