/** Runs work with the same key one after the other, in the order of the calls. Other work runs side by side. */
import { newDeferred } from './deferred.ts';

export class Lanes {
  readonly #last = new Map<string, Promise<unknown>>();

  /**
   * Runs the work when all its lanes are free. It takes its place in all of them at once, so that no two wait for each
   * other. Rejects as the work does, which also frees the lanes. Work that has not begun when the signal aborts never
   * begins: the call rejects at once, and keeps its place until its turn comes. With an aborted signal it takes none.
   */
  async run<T>(lanes: readonly string[], work: () => Promise<T>, signal?: AbortSignal): Promise<T> {
    signal?.throwIfAborted();
    const { promise: left, reject: leave } = newDeferred<never>();
    const onAbort = () => leave(signal?.reason);
    signal?.addEventListener('abort', onAbort);
    const begin = async () => {
      signal?.throwIfAborted();
      signal?.removeEventListener('abort', onAbort);
      return await work();
    };
    const before = lanes.flatMap((lane) => this.#last.get(lane) ?? []);
    const turn = before.length === 0 ? begin() : Promise.allSettled(before).then(begin);
    for (const lane of lanes) this.#last.set(lane, turn);
    const end = () => {
      for (const lane of lanes) if (this.#last.get(lane) === turn) this.#last.delete(lane);
    };
    void turn.then(end, end);
    return await Promise.race([turn, left]);
  }
}
