/** Keeps keys from a dialog that were meant for something else: a person types on while it appears. */

/** A dialog takes no key before it has stood this long. */
export const STANDING_MS = 500;
/** And before this long has passed without a key. */
export const QUIET_MS = 300;
/** Keys that come closer together than this are no person's: a terminal that does not mark pasted text sends them. */
export const BURST_MS = 15;

export class QuietGate {
  readonly #nowMs: () => number;
  #shownMs: number | undefined;
  /** Of the last key, counted or not. */
  #keyMs = Number.NEGATIVE_INFINITY;
  #isOpen = false;

  constructor(nowMs: () => number) {
    this.#nowMs = nowMs;
  }

  /** Called whenever the dialog is drawn; the first time begins the wait. */
  drawn(): void {
    this.#shownMs ??= this.#nowMs();
  }

  /** How long it stays closed if no key comes; 0 once it is open. Undefined before the dialog was drawn. */
  get closedMs(): number | undefined {
    if (this.#isOpen) return 0;
    if (this.#shownMs === undefined) return undefined;
    const opensMs = Math.max(this.#shownMs + STANDING_MS, this.#keyMs + QUIET_MS);
    return Math.max(0, opensMs - this.#nowMs());
  }

  /** What a key may do. A key that is ignored is never taken later. `move` means that it may not answer. */
  admit(): 'ignore' | 'move' | 'answer' {
    const nowMs = this.#nowMs();
    const sinceMs = nowMs - this.#keyMs;
    this.#isOpen ||= this.closedMs === 0;
    this.#keyMs = nowMs;
    if (!this.#isOpen) return 'ignore';
    return sinceMs < BURST_MS ? 'move' : 'answer';
  }

  /** Something else stands there now: the wait begins anew, with the next drawing. */
  close(): void {
    this.#isOpen = false;
    this.#shownMs = undefined;
  }
}
