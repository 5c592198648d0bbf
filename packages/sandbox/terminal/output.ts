/** The kept part of a command's output: its beginning and its end, which can be read in pages. */
import { TERMINAL_LIMITS } from './limits.ts';

/** A piece of an output. Positions count UTF-16 units from the output's beginning. */
export interface OutputPage {
  /** Behind the wanted position where the text there is no longer kept. */
  readonly from: number;
  readonly text: string;
  /** The position of the next page. */
  readonly next: number;
}

/** Takes any amount of text in bounded memory. */
export class BoundedOutput {
  readonly #keptTailChars: number;
  #head = '';
  /** The end in pieces, of which the oldest go: no text is copied while a program prints. */
  readonly #tail: string[] = [];
  #tailLength = 0;
  #length = 0;

  /** Keeps so much of the end for {@link read}. */
  constructor(keptTailChars: number = TERMINAL_LIMITS.maxTailChars) {
    this.#keptTailChars = keptTailChars;
  }

  /** Of all the text, kept or not. */
  get length(): number {
    return this.#length;
  }

  /** Of the beginning that is always kept. */
  get headLength(): number {
    return this.#head.length;
  }

  /** Whether head and tail are all of it. */
  get isShort(): boolean {
    return this.#length <= this.#head.length + TERMINAL_LIMITS.maxTailChars;
  }

  append(text: string): void {
    const room = Math.max(0, TERMINAL_LIMITS.maxHeadChars - this.#head.length);
    this.#head += text.slice(0, room);
    this.#length += text.length;
    if (text.length > room) this.#appendToTail(text.slice(room));
  }

  /** A position within the present output. A negative one counts from the end. */
  positionOf(cursor: number): number {
    const wanted = cursor < 0 ? this.#length + cursor : cursor;
    return Math.min(Math.max(0, wanted), this.#length);
  }

  /** The text from a position on, which may be one that {@link positionOf} takes. */
  read(position: number, maxChars: number): OutputPage {
    const tail = this.#keptTail();
    const tailAt = this.#length - tail.length;
    const at = this.positionOf(position);
    const isInHead = at < this.#head.length;
    const from = isInHead ? at : Math.max(at, tailAt);
    const isWhole = tailAt === this.#head.length;
    const kept = isInHead ? (isWhole ? this.#head + tail : this.#head) : tail;
    const start = isInHead ? from : from - tailAt;
    const piece = kept.slice(start, start + maxChars);
    // At the kept text's own end the half stays counted, so that the next page goes on behind it.
    const page = start + piece.length < kept.length ? withoutHalfAtEnd(piece) : piece;
    const text = withoutHalfAtEnd(withoutHalfAtStart(page));
    return { from, text, next: from + page.length };
  }

  /** Head and tail, with a note between them on how much is missing. */
  toString(): string {
    const tail = this.#keptTail().slice(-TERMINAL_LIMITS.maxTailChars);
    const missing = this.#length - this.#head.length - tail.length;
    if (missing === 0) return this.#head + tail;
    const note = `\n[... ${missing} characters of output are left out here ...]\n`;
    return withoutHalfAtEnd(this.#head) + note + withoutHalfAtStart(tail);
  }

  #appendToTail(text: string): void {
    const last = this.#tail.at(-1);
    const isShort = last !== undefined && last.length < TERMINAL_LIMITS.minPieceChars;
    if (isShort) this.#tail[this.#tail.length - 1] = last + text;
    else this.#tail.push(text);
    this.#tailLength += text.length;
    for (;;) {
      const { length } = this.#tail[0] ?? '';
      if (length === 0 || this.#tailLength - length < this.#keptTailChars) return;
      this.#tail.shift();
      this.#tailLength -= length;
    }
  }

  #keptTail(): string {
    return this.#tail.join('').slice(-this.#keptTailChars);
  }
}

function withoutHalfAtEnd(text: string): string {
  return text.replace(/[\uD800-\uDBFF]$/, '');
}

function withoutHalfAtStart(text: string): string {
  return text.replace(/^[\uDC00-\uDFFF]/, '');
}
