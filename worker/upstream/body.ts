/** The body of a response, read piece by piece: what it begins with can be looked at before it is read. */

/** The connection to an upstream could not be made, or broke. */
export class ConnectionError extends Error {
  static throw(this: void, cause: unknown): never {
    throw new ConnectionError('the connection failed', { cause });
  }
}

/** Owns the body. Throws a {@link ConnectionError} where the connection breaks. */
export class Body {
  readonly #reader: ReadableStreamDefaultReader<Uint8Array> | undefined;
  /** Read already, but not taken yet. */
  #ahead: Uint8Array | null = null;

  constructor(response: Response) {
    this.#reader = response.body?.getReader();
  }

  /** The next bytes; null at the end. Called for each token: it is no async function, which would add turns. */
  read(): Promise<Uint8Array | null> {
    const ahead = this.#ahead;
    this.#ahead = null;
    return ahead ? Promise.resolve(ahead) : this.#next();
  }

  /** The first character that is no white space, '' where there is none. Reads and drops blank pieces before it. */
  async peek(): Promise<string> {
    for (let piece = await this.#next(); piece; piece = await this.#next()) {
      const first = new TextDecoder().decode(piece).trimStart().slice(0, 1);
      if (first === '') continue;
      this.#ahead = piece;
      return first;
    }
    return '';
  }

  /** Gives up what is left; may be called at any time, more than once. */
  cancel(): void {
    void this.#reader?.cancel().catch(() => undefined); // It has ended, or is not wanted any more.
  }

  #next(): Promise<Uint8Array | null> {
    return this.#reader?.read().then(bytesOf, ConnectionError.throw) ?? Promise.resolve(null);
  }
}

function bytesOf({ value }: ReadableStreamReadResult<Uint8Array>): Uint8Array | null {
  return value ?? null;
}
