/**
 * Runs work in turns by owner, at most one piece of each owner at a time: the many tasks of one do not hold up the one of
 * another, and with room for several at once neither does the long one.
 */
import { newDeferred } from '../deferred.ts';

export class FairLine {
  /** What waits, by its owner. The owner whose turn is next comes first. */
  readonly #waiting = new Map<string, (() => void)[]>();
  /** Whose work runs, or is about to. */
  readonly #running = new Set<string>();
  readonly #most: number;

  /** At most so much runs at once. */
  constructor(most = 1) {
    this.#most = most;
  }

  /**
   * Runs the work when it is its turn. Rejects as the work does, which ends its turn too. Work that waits when the signal
   * aborts never begins.
   */
  async run<T>(owner: string, work: () => Promise<T>, signal: AbortSignal): Promise<T> {
    signal.throwIfAborted();
    if (this.#isFree(owner)) this.#running.add(owner);
    else await this.#turnOf(owner, signal);
    try {
      signal.throwIfAborted();
      return await work();
    } finally {
      this.#running.delete(owner);
      // Behind those who came while its work ran.
      this.#drop(owner);
      this.#next();
    }
  }

  #isFree(owner: string): boolean {
    return this.#running.size < this.#most && !this.#running.has(owner);
  }

  async #turnOf(owner: string, signal: AbortSignal): Promise<void> {
    const { promise, resolve, reject } = newDeferred<void>();
    const line = this.#waiting.get(owner) ?? [];
    this.#waiting.set(owner, [...line, resolve]);
    const leave = () => {
      this.#drop(owner, resolve);
      reject(signal.reason);
    };
    signal.addEventListener('abort', leave, { once: true });
    try {
      await promise;
    } finally {
      signal.removeEventListener('abort', leave);
    }
  }

  /** The place is taken at once, and not only when the next work begins. */
  #next(): void {
    const next = [...this.#waiting].find(([owner]) => this.#isFree(owner));
    if (!next) return;
    const [owner, [begin]] = next;
    this.#running.add(owner);
    this.#drop(owner, begin);
    begin?.();
  }

  /** Takes it out of its owner's line, if it is there. The line goes behind those of others. */
  #drop(owner: string, begin?: () => void): void {
    const rest = (this.#waiting.get(owner) ?? []).filter((each) => each !== begin);
    this.#waiting.delete(owner);
    if (rest.length > 0) this.#waiting.set(owner, rest);
  }
}
