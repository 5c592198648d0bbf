/** Work with the same key runs one after the other, in the order it came; everything else side by side. */

export class Lanes {
  readonly #last = new Map<string, Promise<unknown>>();

  /**
   * Runs the work when all its lanes are free; it takes its place in all of them at once, so that none can wait for each
   * other. Rejects as the work does, which frees the lanes as well.
   */
  async run<T>(lanes: readonly string[], work: () => Promise<T>): Promise<T> {
    const before = lanes.flatMap((lane) => this.#last.get(lane) ?? []);
    const turn = before.length === 0 ? work() : Promise.allSettled(before).then(work);
    for (const lane of lanes) this.#last.set(lane, turn);
    try {
      return await turn;
    } finally {
      for (const lane of lanes) if (this.#last.get(lane) === turn) this.#last.delete(lane);
    }
  }
}
