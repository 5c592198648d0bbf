/** Splits the text of a streaming answer into text and reasoning, and drops white space around them. */
import { WellFormedText } from './well-formed.ts';

/** The text and the reasoning that a fragment adds. */
export interface AnswerPiece {
  readonly text: string;
  readonly reasoning: string;
}

const NOTHING: AnswerPiece = { text: '', reasoning: '' };

/**
 * White space counts as text only once something follows it. A `<think>` at the very start of the answer encloses
 * reasoning. A `</think>` without an opening tag stays text: the text before it has already been shown.
 */
export class AnswerText {
  readonly #wellFormed = new WellFormedText();
  /** Null when no tag is expected, or no tag can follow any more. */
  #think: ThinkTag | null;
  /** White space that nothing has followed yet; null after the first text since the start or the last `breakOff`. */
  #space: string | null = '';

  constructor(thinkTags: boolean) {
    this.#think = thinkTags ? new ThinkTag() : null;
  }

  push(fragment: string): AnswerPiece {
    return this.#read(this.#wellFormed.push(fragment));
  }

  /** A tool call has come: drops the white space held so far, and holds white space again from here on. */
  breakOff(): void {
    this.#space = '';
  }

  /** The trimmed content of a `<think>` that is not closed; '' if there is none. */
  get unclosed(): string {
    return this.#think?.unclosed ?? '';
  }

  /** Call at the end of the stream. Returns what was held back. */
  end(): AnswerPiece {
    const last = this.#read(this.#wellFormed.end());
    const held = this.#think?.end() ?? NOTHING;
    return { text: last.text + held.text, reasoning: last.reasoning + held.reasoning };
  }

  #read(piece: string): AnswerPiece {
    const text = this.#withoutSpace(piece);
    if (text === '') return NOTHING;
    if (!this.#think) return { text, reasoning: '' };
    const read = this.#think.push(text);
    if (this.#think.isOver) this.#think = null;
    return read;
  }

  #withoutSpace(piece: string): string {
    if (this.#space === null) return piece;
    this.#space += piece;
    if (piece.trimStart() === '') return '';
    const text = this.#space;
    this.#space = null;
    return text;
  }
}

const OPENING = '<think>';
const CLOSING = '</think>';

/** Finds `<think>…</think>` at the start of the text. Holds back only characters that may be part of a tag. */
class ThinkTag {
  #state: 'before' | 'inside' | 'behind' | 'over' = 'before';
  #held = '';
  /** The reasoning while the tag is open. */
  #inner = '';

  get unclosed(): string {
    return this.#inner.trim();
  }

  /** From here on everything is text. */
  get isOver(): boolean {
    return this.#state === 'over';
  }

  push(fragment: string): AnswerPiece {
    const text = this.#held + fragment;
    this.#held = '';
    switch (this.#state) {
      case 'before':
        return this.#before(text);
      case 'inside':
        return this.#inside(text);
      case 'behind':
        return this.#behind(text);
      case 'over':
        return { text, reasoning: '' };
      default:
        return this.#state satisfies never;
    }
  }

  end(): AnswerPiece {
    if (this.#state === 'before') return { text: this.#held, reasoning: '' };
    this.#inner += this.#held;
    return { text: '', reasoning: this.#held };
  }

  #before(text: string): AnswerPiece {
    const start = text.trimStart();
    if (start.startsWith(OPENING)) {
      this.#state = 'inside';
      return this.#inside(start.slice(OPENING.length));
    }
    if (OPENING.startsWith(start)) {
      this.#held = text;
      return NOTHING;
    }
    this.#state = 'over';
    return { text, reasoning: '' };
  }

  #inside(text: string): AnswerPiece {
    const end = text.indexOf(CLOSING);
    if (end >= 0) {
      this.#state = 'behind';
      this.#inner = '';
      const { text: rest } = this.#behind(text.slice(end + CLOSING.length));
      return { text: rest, reasoning: text.slice(0, end) };
    }
    const kept = lengthOfPartialEnd(text, CLOSING);
    this.#held = text.slice(text.length - kept);
    const reasoning = text.slice(0, text.length - kept);
    this.#inner += reasoning;
    return { text: '', reasoning };
  }

  /** The white space between the reasoning and the answer belongs to neither. */
  #behind(text: string): AnswerPiece {
    const start = text.trimStart();
    if (start !== '') this.#state = 'over';
    return { text: start, reasoning: '' };
  }
}

/** How many units at the end of `text` could be the start of `tag`. */
function lengthOfPartialEnd(text: string, tag: string): number {
  for (let length = Math.min(tag.length - 1, text.length); length > 0; length--) {
    if (text.endsWith(tag.slice(0, length))) return length;
  }
  return 0;
}
