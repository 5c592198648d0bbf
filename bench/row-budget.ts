/** How many rows a response may cost, all objects and alarms counted. */

/** What an answer was made of. */
export interface Work {
  /** From its first word to its last. */
  readonly seconds: number;
  readonly documents: number;
  /** Requests to the model. */
  readonly turns: number;
  /** Calls of tools that the bridge runs. */
  readonly calls: number;
}

/**
 * The most rows that such a response may cost; not whole where the seconds are odd. A part is for what happens once, the
 * others for each commit of the tape, each turn, and each call on its way there and back.
 */
export function rowBudget({ seconds, documents, turns, calls }: Work): number {
  return 6 + seconds / 2 + documents + 4 * turns + 5 * calls;
}
