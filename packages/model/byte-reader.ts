/** Reads a byte stream in pieces that grow with the machine's load. */

import { loopGauge } from '../../shared/load.ts';
import { READ_LIMITS } from './limits.ts';

/**
 * A plain read of workerd returns at most one HTTP chunk, and model servers send a chunk for each token. Each read costs
 * the event loop some 60 µs, so a late loop waits for more bytes in one read: for about as many as come in
 * `loopGauge.coalesceMs`. Then a piece just before a pause of the model arrives with the next one, or with the end.
 */
export class ByteReader {
  readonly #reader: ReadableStreamBYOBReader;
  /** Null at the end, where the stream keeps it. */
  #buffer: ArrayBuffer | null = new ArrayBuffer(READ_LIMITS.bufferBytes);
  /** Bytes that the next read waits for. */
  #leastBytes = 1;
  #readMs = Date.now();

  constructor(reader: ReadableStreamBYOBReader) {
    this.#reader = reader;
  }

  /** The next bytes, which are the caller's own; null at the end, as often as asked. Rejects with the stream's error. */
  next(): Promise<Uint8Array | null> {
    if (this.#buffer === null) return Promise.resolve(null);
    return this.#reader.readAtLeast(this.#leastBytes, new Uint8Array(this.#buffer)).then(
      ({ value }) => this.#take(value),
      (error: unknown) => this.#fail(error),
    );
  }

  cancel(): Promise<void> {
    return this.#reader.cancel();
  }

  /** At the end the stream returns fewer bytes than were asked for, or none. */
  #take(value: Uint8Array | undefined): Uint8Array | null {
    const isEnd = !value || value.length === 0;
    this.#buffer = isEnd ? null : (value.buffer as ArrayBuffer);
    if (isEnd) return null;
    const nowMs = Date.now();
    this.#leastBytes = this.#nextLeast(value.length, nowMs - this.#readMs);
    this.#readMs = nowMs;
    return value.slice();
  }

  /** The stream kept the buffer. The next read fails as this one did. */
  #fail(error: unknown): never {
    this.#buffer = new ArrayBuffer(READ_LIMITS.bufferBytes);
    throw error;
  }

  /** Doubles while reads come sooner than the window, halves when they come much later. */
  #nextLeast(bytes: number, tookMs: number): number {
    const { coalesceMs, isLate } = loopGauge;
    if (!isLate) return 1;
    const { maxLeastBytes } = READ_LIMITS;
    if (tookMs < coalesceMs) return Math.min(maxLeastBytes, Math.max(2 * this.#leastBytes, bytes));
    return tookMs > 1.5 * coalesceMs ? Math.max(1, this.#leastBytes >> 1) : this.#leastBytes;
  }
}

/** Undefined where the runtime lacks `readAtLeast`, which is workerd's own, and for a stream of values. */
export function byteReaderOf(body: ReadableStream<Uint8Array>): ByteReader | undefined {
  try {
    const reader = body.getReader({ mode: 'byob' });
    if (typeof reader.readAtLeast === 'function') return new ByteReader(reader);
    reader.releaseLock();
  } catch {
    // A stream of values.
  }
  return undefined;
}
