/** Puts code back into a Markdown fence while the code may still grow. */

const MIN_LENGTH = 3;
/** A longer fence is only decoration, and each block would repeat it twice. */
const MAX_LENGTH = 64;
const MAX_INDENT = 3;
/** Lines that CommonMark reads as fences, by their character. */
const FENCES = { '`': /^ {0,3}(`{3,})/gm, '~': /^ {0,3}(~{3,})/gm } as const;
/** The beginning of a line that may become a fence. */
const UNDECIDED = /^ {0,3}(`*|~*)$/;

/**
 * The results of {@link open}, {@link push} and {@link close}, joined, are Markdown that holds this code. If a line of
 * the code would close the fence, the code goes on in a new block with a longer fence. Every split of the code gives
 * the same result.
 */
export class Fence {
  readonly #info: string;
  /** Tildes if the info string holds a backtick, which CommonMark allows only after tildes. */
  readonly #char: keyof typeof FENCES;
  #length: number;
  /** The line so far while it may still be a fence; null afterwards. */
  #held: string | null = '';
  /** The line's first characters, which show its fence character. Testing all of it each time would be quadratic. */
  #heldStart = '';
  #hasCode = false;

  /** `length` is the original fence's. `code` is known beforehand: a longer fence than any in it keeps one block. */
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

  /** One more than the longest fence in the code; 1 without one. */
  #lengthBeyond(code: string): number {
    let longest = 0;
    for (const [, fence = ''] of code.matchAll(FENCES[this.#char])) {
      longest = Math.max(longest, fence.length);
    }
    return longest + 1;
  }
}

/** The whole code in one block. */
export function fenced(info: string, code: string): string {
  const fence = new Fence(info, code);
  return `${fence.open()}${fence.push(code)}${fence.close()}`;
}
