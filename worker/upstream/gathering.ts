/** What reads bring while the machine is busy, kept together: most of a token's cost is paid per piece, not per byte. */
import { loopGauge } from '../load.ts';
import type { Body } from './body.ts';

export const GATHERING_LIMITS = {
  /** Bytes that wait at once: beyond it there is enough to do for one turn. */
  maxBytes: 64 * 1024,
} as const;

/**
 * Takes the pieces of a body. While the loop is not late each one is handled at once; else at most one batch in each
 * `loopGauge.coalesceMs`. One read of workerd never brings more than one chunk of HTTP, so to read later would not
 * bring more. What `handle` throws is thrown by the next call; the body is cancelled, so that there is one.
 */
export class Gathering implements Disposable {
  readonly #handle: (bytes: Uint8Array) => void;
  readonly #body: Body;
  #waiting: Uint8Array[] = [];
  #size = 0;
  /** Runs while what comes has to wait. */
  #timer: ReturnType<typeof setTimeout> | undefined;
  #failure: { readonly cause: unknown } | null = null;

  constructor(handle: (bytes: Uint8Array) => void, body: Body) {
    this.#handle = handle;
    this.#body = body;
  }

  push(bytes: Uint8Array): void {
    this.#waiting.push(bytes);
    this.#size += bytes.length;
    const isFull = this.#size > GATHERING_LIMITS.maxBytes;
    if (this.#timer === undefined || isFull || this.#failure) this.flush();
  }

  /** Handles what waits. */
  flush(): void {
    if (this.#failure) throw this.#failure.cause;
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (this.#waiting.length === 0) return;
    const bytes = this.#take();
    loopGauge.probe();
    if (loopGauge.isLate) this.#timer = setTimeout(() => this.#ring(), loopGauge.coalesceMs);
    this.#handle(bytes);
  }

  /** Handles nothing more. */
  [Symbol.dispose](): void {
    clearTimeout(this.#timer);
  }

  #ring(): void {
    try {
      this.flush();
    } catch (cause) {
      this.#failure = { cause };
      this.#body.cancel();
    }
  }

  #take(): Uint8Array {
    const [first, ...more] = this.#waiting;
    const size = this.#size;
    this.#waiting = [];
    this.#size = 0;
    if (first && more.length === 0) return first;
    const bytes = new Uint8Array(size);
    let at = 0;
    for (const piece of first ? [first, ...more] : []) {
      bytes.set(piece, at);
      at += piece.length;
    }
    return bytes;
  }
}
