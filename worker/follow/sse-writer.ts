/** The writing end of a streamed response: one write at a time, everything that came meanwhile in the next. */

import type { Outlet } from './deliver.ts';
import { FOLLOW_LIMITS } from './limits.ts';

/** Of every SSE response; the last one keeps nginx from collecting it. */
export const SSE_HEADERS = {
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-store',
  'x-accel-buffering': 'no',
} as const;

export class SseWriter implements Outlet {
  readonly readable: ReadableStream<Uint8Array>;
  readonly #writer: WritableStreamDefaultWriter<Uint8Array>;
  readonly #encoder = new TextEncoder();
  #waiting = '';
  #busySinceMs: number | null = null;
  #isGone = false;
  #drained: Promise<void> = Promise.resolve();

  constructor() {
    const { readable, writable } = new IdentityTransformStream();
    this.readable = readable;
    this.#writer = writable.getWriter();
  }

  /** UTF-16 units that the reader has not taken yet, without what is being written. */
  get buffered(): number {
    return this.#waiting.length;
  }

  /** Whether a write has failed: nobody reads any more. */
  get isGone(): boolean {
    return this.#isGone;
  }

  /** How long the piece under way has waited for its reader; without end for one that is gone. */
  get stalledForMs(): number {
    if (this.#isGone) return Number.POSITIVE_INFINITY;
    return this.#busySinceMs === null ? 0 : Date.now() - this.#busySinceMs;
  }

  write(text: string): void {
    this.#waiting += text;
    if (this.#busySinceMs === null) this.#drained = this.#drain();
  }

  /** Resolves when everything was taken, or the reader is gone. */
  drained(): Promise<void> {
    return this.#drained;
  }

  /**
   * Closes after what is waiting. Drops it when the signal says that nobody reads any more, and when the reader takes
   * nothing for FOLLOW_LIMITS.stalledMs: the caller's own timers may be cleared by now.
   */
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
      // The reader is gone: there is nobody to close the stream for.
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
        for (const piece of piecesOf(this.#encoder.encode(text))) {
          this.#busySinceMs = Date.now();
          await this.#writer.write(piece);
        }
      }
    } catch {
      // Not always does the request's signal say so: then the next heartbeat ends the adapter.
      this.#isGone = true;
      this.#waiting = '';
    } finally {
      this.#busySinceMs = null;
    }
  }
}

/** A write ends when all of it was taken: in pieces, a slow reader of much is told from one that has stopped. */
function* piecesOf(bytes: Uint8Array): Generator<Uint8Array> {
  const { pieceBytes } = FOLLOW_LIMITS;
  for (let at = 0; at < bytes.length; at += pieceBytes) yield bytes.subarray(at, at + pieceBytes);
}
