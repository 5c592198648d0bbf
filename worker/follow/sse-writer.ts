/** The writing end of an SSE response: one write at a time, everything that came meanwhile in the next. */
import type { Outlet } from './deliver.ts';

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
  #drained: Promise<void> = Promise.resolve();

  constructor() {
    const { readable, writable } = new IdentityTransformStream();
    this.readable = readable;
    this.#writer = writable.getWriter();
  }

  /** UTF-16 units that the reader has not taken yet, without the write under way. */
  get buffered(): number {
    return this.#waiting.length;
  }

  /** How long the write under way has waited for its reader. */
  get stalledForMs(): number {
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

  /** Closes after what is waiting, or drops it when the signal says that nobody reads any more. */
  async end(signal: AbortSignal): Promise<void> {
    try {
      if (signal.aborted && this.#busySinceMs !== null) await this.#writer.abort(signal.reason);
      await this.#drained;
      await this.#writer.close();
    } catch {
      // The reader is gone: there is nobody to close the stream for.
    }
  }

  async #drain(): Promise<void> {
    try {
      while (this.#waiting !== '') {
        const text = this.#waiting;
        this.#waiting = '';
        this.#busySinceMs = Date.now();
        await this.#writer.write(this.#encoder.encode(text));
      }
    } catch {
      // The reader is gone. The request's signal ends the adapter.
      this.#waiting = '';
    } finally {
      this.#busySinceMs = null;
    }
  }
}
