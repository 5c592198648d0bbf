/** A time limit that ends with what it limits: the timer of AbortSignal.timeout keeps a Durable Object awake until then. */

/** The signal aborts after `ms` with an error of the name `TimeoutError`, unless the limit is disposed of before. */
export class TimeLimit {
  readonly #ending = new AbortController();
  readonly #timer: ReturnType<typeof setTimeout>;

  constructor(ms: number) {
    const late = () => this.#ending.abort(new DOMException('The time is over.', 'TimeoutError'));
    this.#timer = setTimeout(late, ms);
  }

  get signal(): AbortSignal {
    return this.#ending.signal;
  }

  [Symbol.dispose](): void {
    clearTimeout(this.#timer);
  }
}
