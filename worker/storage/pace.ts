/** Long work of an object in parts: a server of one's own has one thread for all accounts. */

/** The limits of long work. */
export const PACE_LIMITS = {
  /** How long a part may take: a message of another account waits for some parts, one at each object on its way. */
  partMs: 5,
  /** Rows of the first part of a read, which is also the smallest, and of any: the longest texts take some 10 ms. */
  firstRows: 128,
  maxRows: 4_096,
  /** The longest rest: after a part that took long, such as the start of a damaged object. */
  maxRestMs: 100,
} as const;

/** Rests after each part for as long as the part took, so that half of the time is for others. */
export class Pace {
  #rows: number = PACE_LIMITS.firstRows;
  #startMs = Date.now();

  /** How many rows the next part may read. */
  get rows(): number {
    return this.#rows;
  }

  /** To be called between two parts. Cloudflare's clock stands still during a part: parts get larger there, up to a bound. */
  async rest(): Promise<void> {
    const { partMs, firstRows, maxRows, maxRestMs } = PACE_LIMITS;
    const tookMs = Date.now() - this.#startMs;
    if (tookMs > partMs) this.#rows = Math.max(firstRows, this.#rows / 2);
    else if (tookMs < partMs / 2) this.#rows = Math.min(maxRows, this.#rows * 2);
    await scheduler.wait(Math.min(maxRestMs, Math.max(1, tookMs)));
    this.#startMs = Date.now();
  }
}
