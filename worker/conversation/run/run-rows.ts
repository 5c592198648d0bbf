/** What a response is said to have written, over all objects. */
import type { RowMeter } from '../../storage/row-meter.ts';
import type { Run } from '../store/rows.ts';

/** The end of a run itself: its events, and the row of its last turn or its own. */
const END_ROWS = 2;
/** In the account's list: a conversation's place at each answer, and its entry before the first one. */
const LISTED_ROWS = 1;

/**
 * Counts the rows that were written while a run was at work. What an instance wrote that a crash ended is counted from
 * what it stored; a message that waits is counted with the response at work.
 */
export class RunRows {
  readonly #meter: RowMeter;
  readonly #isListed: boolean;
  /** Where the meter stood when nothing was counted yet. */
  #from: number;

  /** `storedRows` were written by earlier instances; null for a conversation that this one has just made. */
  constructor(meter: RowMeter, storedRows: number | null, isListed: boolean) {
    this.#meter = meter;
    this.#isListed = isListed;
    this.#from = storedRows === null ? 0 : meter.rows - storedRows;
  }

  /** To be called once, before the end is stored: with what that will write, here and in the account's list. */
  take({ ordinal }: Run): number {
    const rows = this.#meter.rows - this.#from + END_ROWS;
    this.#from = this.#meter.rows + END_ROWS;
    if (!this.#isListed) return rows;
    return rows + (ordinal === 1 ? 2 : 1) * LISTED_ROWS;
  }
}
