/** Lets the event loop turn between the pieces of a work that stays in this thread. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { COMPUTE_LIMITS } from './limits.ts';

/** One for each work. Asked after each piece: `if (turns.isDue) await turns.take()`. */
export class Turns {
  #since = performance.now();

  /** Whether the loop has been held up for long enough. */
  get isDue(): boolean {
    return performance.now() - this.#since >= COMPUTE_LIMITS.turnMs;
  }

  async take(): Promise<void> {
    await nextTurn();
    this.#since = performance.now();
  }
}

/** As `filter`, with a turn for others whenever the loop was held up for long enough. */
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
