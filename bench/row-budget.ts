/** The number of rows that a response may cost, in all objects and alarms. */

/** The parts of an answer. */
export interface Work {
  /** The time from the first word to the last. */
  readonly seconds: number;
  readonly documents: number;
  /** Requests to the model. */
  readonly turns: number;
  /** Calls of tools that the bridge runs. */
  readonly calls: number;
}

/**
 * The most rows that the response may cost; a fraction if the seconds are odd. One part is for what happens once, the
 * others are for each commit of the tape, each turn, and each call on its way there and back.
 */
export function rowBudget({ seconds, documents, turns, calls }: Work): number {
  return 6 + seconds / 2 + documents + 4 * turns + 5 * calls;
}
