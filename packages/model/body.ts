/** Reads the body of a response piece by piece, and can look at its first character beforehand. */

import { type ByteReader, byteReaderOf } from './byte-reader.ts';

/** The connection to an upstream could not be made, or broke. */
export class ConnectionError extends Error {
  static throw(this: void, cause: unknown): never {
    throw new ConnectionError('the connection failed', { cause });
  }
}

/** Owns the body. Reading throws a {@link ConnectionError} if the connection breaks. */
export class Body {
  readonly #reader: ByteReader | PieceReader | undefined;
  /** The piece that `peek` has read and `read` has not yet returned. */
  #ahead: Uint8Array | null = null;

  constructor(response: Response) {
    const { body } = response;
    this.#reader = body ? (byteReaderOf(body) ?? new PieceReader(body.getReader())) : undefined;
  }

  /** The next bytes; null at the end. Not an async function: it runs for each token, and async would add microtasks. */
  read(): Promise<Uint8Array | null> {
    const ahead = this.#ahead;
    this.#ahead = null;
    return ahead ? Promise.resolve(ahead) : this.#next();
  }

  /** The first character that is not white space, or ''. Reads and drops blank pieces before it. */
  async peek(): Promise<string> {
    for (let piece = await this.#next(); piece; piece = await this.#next()) {
      const first = new TextDecoder().decode(piece).trimStart().slice(0, 1);
      if (first === '') continue;
      this.#ahead = piece;
      return first;
    }
    return '';
  }

  /** Drops the rest of the body. May be called at any time, and more than once. */
  cancel(): void {
    void this.#reader?.cancel().catch(() => undefined); // The body has already ended or failed.
  }

  #next(): Promise<Uint8Array | null> {
    return this.#reader?.next().catch(ConnectionError.throw) ?? Promise.resolve(null);
  }
}

/** Reads any stream, piece by piece. */
class PieceReader implements Pick<ByteReader, 'next' | 'cancel'> {
  readonly #reader: ReadableStreamDefaultReader<Uint8Array>;

  constructor(reader: ReadableStreamDefaultReader<Uint8Array>) {
    this.#reader = reader;
  }

  next(): Promise<Uint8Array | null> {
    return this.#reader.read().then(({ value }) => value ?? null);
  }

  cancel(): Promise<void> {
    return this.#reader.cancel();
  }
}
