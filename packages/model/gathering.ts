/** Batches network reads while the event loop is late: most of a token's cost is per piece, not per byte. */

import { loopGauge } from '../../shared/load.ts';
import { KIB } from '../../shared/units.ts';
import type { Body } from './body.ts';

export const GATHERING_LIMITS = {
  /** Waiting bytes beyond which a batch is handled at once. */
  maxBytes: 64 * KIB,
} as const;

/**
 * Takes the pieces of a body. Handles each piece at once while the event loop is not late, else at most one batch in
 * each `loopGauge.coalesceMs`. Reading later would not help: a plain read of workerd returns one HTTP chunk. If
 * `handle` throws in the timer, this cancels the body, so that its reader wakes, and the next call throws the error.
 */
export class BodyGathering implements Disposable {
  readonly #handle: (bytes: Uint8Array) => void;
  readonly #body: Body;
  #waiting: Uint8Array[] = [];
  #size = 0;
  /** Set while pieces have to wait. */
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

  /** Handles the waiting pieces. */
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

  /** Drops the waiting pieces. */
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
