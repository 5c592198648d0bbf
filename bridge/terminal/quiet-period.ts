/** Waits until a program that prints is quiet. */
import { newDeferred } from '../../machine/deferred.ts';
import { COMMAND_LIMITS } from '../../shared/limits.ts';

/** Begins with its construction. */
export class QuietPeriod {
  /** Resolves after `backgroundQuietMs` without an interruption, or after `backgroundWaitMs` in any case. */
  readonly reached: Promise<void>;
  readonly #limit: NodeJS.Timeout;
  readonly #quiet: NodeJS.Timeout;
  #isOver = false;

  constructor() {
    const { promise, resolve } = newDeferred<void>();
    this.reached = promise;
    this.#limit = setTimeout(resolve, COMMAND_LIMITS.backgroundWaitMs);
    this.#quiet = setTimeout(resolve, COMMAND_LIMITS.backgroundQuietMs);
  }

  interrupt(): void {
    if (!this.#isOver) this.#quiet.refresh();
  }

  /** Stops the timers, which would otherwise keep the process alive. */
  end(): void {
    this.#isOver = true;
    clearTimeout(this.#limit);
    clearTimeout(this.#quiet);
  }
}
