/** Markdown outside of fences, read for one thing only: where the next fence opens, and inside which list item. */
import { columnAfter } from './columns.ts';

/** An opening line of fenced code. */
export interface OpenFence {
  /** A backtick or a tilde, and how many of them. */
  readonly char: string;
  readonly length: number;
  /** Where the fence stands. Its code is indented as much, which is no part of the code. */
  readonly column: number;
  /** Where the content of the list item around it begins; 0 without one. */
  readonly itemColumn: number;
  readonly info: string;
}

/** More indentation than this makes indented code, where nothing opens. */
export const MAX_INDENT = 3;
const MIN_FENCE = 3;
const MAX_MARKER_DIGITS = 9;
const MAX_MARKER_PADDING = 4;
const MIN_BREAK = 3;

/**
 * Reads every character once and holds back only what may still be a fence. Follows CommonMark, but keeps no account of
 * paragraphs, quotes and HTML: a fence in a quote is text, one inside HTML is a fence, and a line that lazily goes on
 * with a list item's paragraph leaves the item.
 */
export class Prose {
  /** Where the contents of the list items around the line begin, outermost first. */
  readonly #items: number[] = [];
  /** In the line; `break` may be the rest of a thematic break, `body` is all of it that can open nothing. */
  #place: 'indent' | 'number' | 'marker' | 'fence' | 'info' | 'break' | 'body' = 'indent';
  #column = 0;
  /** The column behind the line's last list marker; null where it has none. */
  #markerEnd: number | null = null;
  #digits = 0;
  /**
   * The line, as far as one bullet and blanks repeat in it: what looks like bullets may be a thematic break, which then
   * stands in as many items as there were before the first of them.
   */
  #bullets = { char: '', count: 0, itemCount: 0 };
  #fence = { char: '', length: 0, column: 0 };
  /** The fence and its info so far. */
  #held = '';

  /** `end` is the index behind what was read: before the input's end only where a fence has opened. */
  read(input: string, start: number): { text: string; end: number; fence: OpenFence | null } {
    let text = '';
    let at = start;
    while (at < input.length) {
      if (this.#place === 'body') {
        const end = input.indexOf('\n', at);
        text += input.slice(at, end < 0 ? input.length : end);
        if (end < 0) break;
        at = end;
      }
      const char = input.charAt(at++);
      if (char === '\n' && this.#isFence) return { text, end: at, fence: this.#takeFence() };
      this.#step(char);
      if (this.#place === 'fence' || this.#place === 'info') this.#held += char;
      else text += this.#takeHeld() + char;
    }
    return { text, end: input.length, fence: null };
  }

  /** The line ends here: what was held back is text after all, or a fence. The next text begins a line. */
  end(): { text: string; fence: OpenFence | null } {
    const fence = this.#isFence ? this.#takeFence() : null;
    const text = this.#takeHeld();
    this.#endLine();
    return { text, fence };
  }

  #step(char: string): void {
    if (char === '\n') return this.#endLine();
    switch (this.#place) {
      case 'indent':
        if (char === ' ' || char === '\t') this.#column = columnAfter(char, this.#column);
        else this.#begin(char);
        return;
      case 'number':
        return this.#readNumber(char);
      case 'marker':
        return this.#readMarker(char);
      case 'fence':
        return this.#readFence(char);
      case 'info':
        if (char === '`' && this.#fence.char === '`') this.#place = 'body';
        return;
      case 'break':
        return this.#readBreak(char);
      case 'body':
        return;
      default:
        this.#place satisfies never;
    }
  }

  /** The first character behind the indentation or a list marker; behind that more markers and a fence may follow. */
  #begin(char: string): void {
    this.#enterItem();
    const indent = this.#column - this.#itemColumn;
    this.#countBullet(char, indent);
    if (indent > MAX_INDENT) this.#place = this.#bullets.count > 0 ? 'break' : 'body';
    else if (char === '`' || char === '~') {
      this.#place = 'fence';
      this.#fence = { char, length: 1, column: this.#column };
    } else if ('-+*'.includes(char)) this.#place = 'marker';
    else if (isDigit(char)) this.#place = 'number';
    else this.#place = 'body';
    this.#digits = 1;
    this.#column++;
  }

  /** Leaves the items that the line is not indented for, or enters the one whose marker stands before it. */
  #enterItem(): void {
    const end = this.#markerEnd;
    if (end === null) {
      while (this.#column < this.#itemColumn) this.#items.pop();
    } else {
      this.#items.push(this.#column - end > MAX_MARKER_PADDING ? end + 1 : this.#column);
    }
  }

  #countBullet(char: string, indent: number): void {
    if (char === this.#bullets.char) this.#bullets.count++;
    else {
      const count = indent <= MAX_INDENT && '-*'.includes(char) ? 1 : 0;
      // Behind the items that stand around it, and before the one that it would begin itself.
      this.#bullets = { char: count === 0 ? '' : char, count, itemCount: this.#items.length };
    }
  }

  get #itemColumn(): number {
    return this.#items.at(-1) ?? 0;
  }

  #readNumber(char: string): void {
    this.#column++;
    this.#digits++;
    if (char === '.' || char === ')') this.#place = 'marker';
    else if (!isDigit(char) || this.#digits > MAX_MARKER_DIGITS) this.#place = 'body';
  }

  /** What stands behind a bullet or a number with its dot decides whether it was one. */
  #readMarker(char: string): void {
    if (char === this.#bullets.char) return this.#readBreak(char);
    if (char !== ' ' && char !== '\t') {
      this.#place = 'body';
      return;
    }
    this.#markerEnd = this.#column;
    this.#column = columnAfter(char, this.#column);
    this.#place = 'indent';
  }

  /** Two bullets without a blank between are none. */
  #readBreak(char: string): void {
    this.#place = 'break';
    if (char === this.#bullets.char) this.#bullets.count++;
    else if (char !== ' ' && char !== '\t') this.#place = 'body';
  }

  #readFence(char: string): void {
    if (char === this.#fence.char) this.#fence.length++;
    else this.#place = this.#fence.length < MIN_FENCE ? 'body' : 'info';
  }

  /** An item can begin with an empty line. */
  #endLine(): void {
    if (this.#place === 'marker') this.#items.push(this.#column + 1);
    else if (this.#place === 'indent' && this.#markerEnd !== null) {
      this.#items.push(this.#markerEnd + 1);
    }
    if (this.#place !== 'body' && this.#bullets.count >= MIN_BREAK) {
      this.#items.length = this.#bullets.itemCount;
    }
    this.#bullets = { char: '', count: 0, itemCount: 0 };
    this.#place = 'indent';
    this.#column = 0;
    this.#markerEnd = null;
  }

  /** What the line holds so far is a fence, if it ends here. */
  get #isFence(): boolean {
    return this.#place === 'info' || (this.#place === 'fence' && this.#fence.length >= MIN_FENCE);
  }

  #takeFence(): OpenFence {
    const info = this.#takeHeld().slice(this.#fence.length);
    const fence = { ...this.#fence, itemColumn: this.#itemColumn, info };
    this.#endLine();
    return fence;
  }

  #takeHeld(): string {
    const held = this.#held;
    this.#held = '';
    return held;
  }
}

function isDigit(char: string): boolean {
  return char >= '0' && char <= '9';
}
