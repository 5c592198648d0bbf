/** Joins surrogate pairs that a server splits between two deltas, for example an emoji. */

/** Returns well-formed pieces. Holds back a high surrogate until the next piece. A lone surrogate becomes U+FFFD. */
export class WellFormedText {
  #half = '';

  push(piece: string): string {
    const text = this.#half + piece;
    const last = text.charCodeAt(text.length - 1);
    const isCut = last >= 0xd800 && last <= 0xdbff;
    this.#half = isCut ? text.slice(-1) : '';
    return (isCut ? text.slice(0, -1) : text).toWellFormed();
  }

  /** Call at the end of the stream. Returns what was held back. */
  end(): string {
    const half = this.#half;
    this.#half = '';
    return half.toWellFormed();
  }
}
