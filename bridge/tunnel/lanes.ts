/** Work with the same key runs one after the other, in the order it came; everything else side by side. */

export class Lanes {
  readonly #last = new Map<string, Promise<unknown>>();
  readonly #all = new Set<Promise<unknown>>();

  /** Runs the work when the lane is free; null is no lane. Rejects as the work does, which frees the lane as well. */
  async run<T>(lane: string | null, work: () => Promise<T>): Promise<T> {
    const before = lane === null ? undefined : this.#last.get(lane);
    const turn = before ? before.then(work, work) : work();
    this.#all.add(turn);
    if (lane !== null) this.#last.set(lane, turn);
    try {
      return await turn;
    } finally {
      this.#all.delete(turn);
      if (lane !== null && this.#last.get(lane) === turn) this.#last.delete(lane);
    }
  }

  /** When everything under way has ended, well or not. */
  async settled(): Promise<void> {
    await Promise.allSettled(this.#all);
  }
}
