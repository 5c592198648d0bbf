/** Work with the same key runs one after the other, in the order it came; everything else side by side. */

export class Lanes {
  readonly #last = new Map<string, Promise<unknown>>();

  /** Runs the work when the lane is free; null is no lane. Rejects as the work does, which frees the lane as well. */
  async run<T>(lane: string | null, work: () => Promise<T>): Promise<T> {
    if (lane === null) return await work();
    const turn = this.#last.get(lane)?.then(work, work) ?? work();
    this.#last.set(lane, turn);
    try {
      return await turn;
    } finally {
      if (this.#last.get(lane) === turn) this.#last.delete(lane);
    }
  }
}
