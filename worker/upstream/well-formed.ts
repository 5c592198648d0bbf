/** One stream of text whose pieces are cut by UTF-16 units: servers send the halves of an emoji in two deltas. */

/** Gives back well-formed pieces: a half waits for its other half, a lonely one becomes U+FFFD. */
export class WellFormedText {
  #half = '';

  push(piece: string): string {
    const text = this.#half + piece;
    const isCut = endsInHighSurrogate(text);
    this.#half = isCut ? text.slice(-1) : '';
    return (isCut ? text.slice(0, -1) : text).toWellFormed();
  }

  /** The stream has ended: what still waits. */
  end(): string {
    const half = this.#half;
    this.#half = '';
    return half.toWellFormed();
  }
}

function endsInHighSurrogate(text: string): boolean {
  const last = text.charCodeAt(text.length - 1);
  return last >= 0xd800 && last <= 0xdbff;
}
