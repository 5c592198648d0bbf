/** Gives the event loop a turn between the pieces of work that stays in this thread. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { COMPUTE_LIMITS } from './limits.ts';

/** One for each piece of work. The caller checks it after each step: `if (turns.isDue) await turns.take()`. */
export class Turns {
  #since = performance.now();

  /** Whether the loop has been held for `turnMs`. */
  get isDue(): boolean {
    return performance.now() - this.#since >= COMPUTE_LIMITS.turnMs;
  }

  async take(): Promise<void> {
    await nextTurn();
    this.#since = performance.now();
  }
}

/** Like `filter`, but gives the loop a turn whenever it was held for `turnMs`. */
export async function filterInTurns<Item>(
  items: readonly Item[],
  isKept: (item: Item) => boolean,
): Promise<Item[]> {
  const turns = new Turns();
  const kept: Item[] = [];
  for (const item of items) {
    if (isKept(item)) kept.push(item);
    if (turns.isDue) await turns.take();
  }
  return kept;
}
