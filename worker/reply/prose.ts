/** Reads Markdown outside of fences, only to find where the next fence opens, and inside which list item. */
import { columnAfter } from './columns.ts';

/** An opening line of fenced code. */
export interface OpenFence {
  /** A backtick or a tilde; `length` is their number. */
  readonly char: string;
  readonly length: number;
  /** The fence's indentation. The same indentation of its lines does not belong to the code. */
  readonly column: number;
  /** The column where the content of the enclosing list item begins; 0 without one. */
  readonly itemColumn: number;
  readonly info: string;
}

/** More indentation than this makes indented code, where no fence opens. */
export const MAX_INDENT = 3;
const MIN_FENCE = 3;
const MAX_MARKER_DIGITS = 9;
const MAX_MARKER_PADDING = 4;
const MIN_BREAK = 3;

/**
 * Reads every character once, and holds back only a possible fence. Follows CommonMark, but does not track paragraphs,
 * quotes and HTML. A fence in a quote counts as text. A fence inside HTML counts as a fence. A lazy continuation line
 * of a list item's paragraph leaves the item.
 */
export class Prose {
  /** The columns where the contents of the enclosing list items begin, outermost first. */
  readonly #items: number[] = [];
  /** The position in the line. `break`: possibly a thematic break. `body`: nothing can open in this line any more. */
  #place: 'indent' | 'number' | 'marker' | 'fence' | 'info' | 'break' | 'body' = 'indent';
  #column = 0;
  /** The column after the line's last list marker; null without one. */
  #markerEnd: number | null = null;
  #digits = 0;
  /**
   * Set while the line repeats one bullet character and blanks: the line may be a thematic break instead of bullets.
   * `itemCount` is the number of list items before the first bullet. A thematic break stays inside these items.
   */
  #bullets = { char: '', count: 0, itemCount: 0 };
  #fence = { char: '', length: 0, column: 0 };
  /** The fence and its info so far. */
  #held = '';

  /** `end` is the index after the characters read: the input's end, unless a fence has opened. */
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

  /** Ends the line here. Returns the held characters as text or as a fence. The next text begins a new line. */
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

  /** Takes the first character after the indentation or a list marker. More markers and a fence may follow. */
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

  /** Without a marker, leaves the items that the line is not indented for. After a marker, enters its item. */
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
      // Counted before the item that this bullet would begin.
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

  /** The character after a bullet, or after a number and its dot, decides whether it is a list marker. */
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

  /** Two bullets without a blank between them are not list markers, but may be a thematic break. */
  #readBreak(char: string): void {
    this.#place = 'break';
    if (char === this.#bullets.char) this.#bullets.count++;
    else if (char !== ' ' && char !== '\t') this.#place = 'body';
  }

  #readFence(char: string): void {
    if (char === this.#fence.char) this.#fence.length++;
    else this.#place = this.#fence.length < MIN_FENCE ? 'body' : 'info';
  }

  /** Also enters an item that begins with an empty line, and leaves items of a thematic break. */
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

  /** Whether the line opens a fence if it ends here. */
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
