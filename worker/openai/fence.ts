/** Code put back into a Markdown fence, while it may still be coming. */

const MIN_LENGTH = 3;
/** A longer one is no more than decoration, and each block would say it twice. */
const MAX_LENGTH = 64;
const MAX_INDENT = 3;
/** Lines that are fences to CommonMark, by what they consist of. */
const FENCES = { '`': /^ {0,3}(`{3,})/gm, '~': /^ {0,3}(~{3,})/gm } as const;
/** The beginning of a line that may become one. */
const UNDECIDED = /^ {0,3}(`*|~*)$/;

/**
 * Everything that {@link open}, {@link push} and {@link close} give, joined, is Markdown that holds this code. Where a
 * line would close the fence, which only a longer fence around could have prevented, the code goes on in another block.
 * It depends on the code alone, not on how it was cut.
 */
export class Fence {
  readonly #info: string;
  /** Tildes where the info string holds a backtick, which CommonMark allows behind tildes only. */
  readonly #char: keyof typeof FENCES;
  #length: number;
  /** The line so far while it may still be a fence; null behind that. */
  #held: string | null = '';
  /** How that line begins, which shows what it consists of: to look at all of it with each piece would cost the square. */
  #heldStart = '';
  #hasCode = false;

  /**
   * `length` is that of the fence it had, and `code` as much as is known of it beforehand: a fence longer than any in it
   * keeps it in one block.
   */
  constructor(info: string, code: string, length = MIN_LENGTH) {
    this.#info = info;
    this.#char = info.includes('`') ? '~' : '`';
    this.#length = Math.max(Math.min(length, MAX_LENGTH), MIN_LENGTH, this.#lengthBeyond(code));
  }

  open(): string {
    // An info string that begins with a tilde would lengthen a fence of tildes.
    const gap = this.#info.startsWith(this.#char) ? ' ' : '';
    return `${this.#mark}${gap}${this.#info}\n`;
  }

  push(code: string): string {
    if (code === '') return '';
    this.#hasCode = true;
    const pieces = code.split('\n');
    return pieces
      .map((piece, index) => (index === 0 ? '' : this.#endLine()) + this.#addToLine(piece))
      .join('');
  }

  close(): string {
    return `${this.#takeHeld()}${this.#hasCode ? '\n' : ''}${this.#mark}`;
  }

  get #mark(): string {
    return this.#char.repeat(this.#length);
  }

  #addToLine(piece: string): string {
    if (this.#held === null) return piece;
    this.#held += piece;
    const seen = this.#heldStart + piece;
    this.#heldStart = seen.slice(0, MAX_INDENT + 1);
    return UNDECIDED.test(seen) ? '' : this.#takeHeld();
  }

  #endLine(): string {
    const rest = this.#takeHeld();
    this.#held = '';
    this.#heldStart = '';
    return `${rest}\n`;
  }

  #takeHeld(): string {
    const held = this.#held ?? '';
    this.#held = null;
    const length = this.#lengthBeyond(held);
    if (length <= this.#length) return held;
    const closed = this.#mark;
    this.#length = length;
    return `${closed}\n\n${this.open()}${held}`;
  }

  /** One more than the longest fence in the code; 1 where it has none. */
  #lengthBeyond(code: string): number {
    let longest = 0;
    for (const [, fence = ''] of code.matchAll(FENCES[this.#char])) {
      longest = Math.max(longest, fence.length);
    }
    return longest + 1;
  }
}
