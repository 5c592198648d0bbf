/** Reads the code of one fence: its lines without the fence's indentation, up to the closing line. */
import { columnAfter, withoutColumns } from './columns.ts';
import { MAX_INDENT, type OpenFence } from './prose.ts';

/** The position in a line. `body`: this line can no longer close the fence. */
type LinePlace = 'indent' | 'fence' | 'tail' | 'body';

/**
 * Reads every character once. Holds back each line's indentation, and a line that may close the fence. Returns line
 * ends only between lines, so the code neither begins nor ends with one.
 *
 * Only a closing line or the end of the text ends the code. In CommonMark, a line indented less than its list item also
 * ends it. Models write such lines (here-documents, or all of the code), and the closing fence would then open a new
 * fence and swallow the rest of the answer.
 */
export class FencedCode {
  readonly #fence: OpenFence;
  /** Columns of indentation that do not belong to the code. */
  #codeColumn: number;
  #place: LinePlace = 'indent';
  #column = 0;
  #space = '';
  /** A possible closing fence and the blanks after it. */
  #held = '';
  #length = 0;
  #hasLines = false;
  /** A line of code that is not blank has started. */
  #hasCode = false;

  constructor(fence: OpenFence) {
    this.#fence = fence;
    this.#codeColumn = fence.column;
  }

  /** `end` is the index after the characters read: the input's end, unless the fence is closed. */
  read(input: string, start: number): { code: string; end: number; isClosed: boolean } {
    let code = '';
    let at = start;
    while (at < input.length) {
      if (this.#place === 'body') {
        const end = input.indexOf('\n', at);
        code += input.slice(at, end < 0 ? input.length : end);
        if (end < 0) break;
        this.#endLine();
        at = end + 1;
      } else {
        const char = input.charAt(at);
        if (char === '\n' && this.#isClosing) return { code, end: at + 1, isClosed: true };
        const place = this.#placeWith(char);
        if (place === 'body') {
          code += this.#beginBody(char);
        } else {
          this.#hold(place, char);
          at++;
        }
      }
    }
    return { code, end: input.length, isClosed: false };
  }

  /** Ends the line: the held text if it is code, and whether the line closes the fence. */
  end(): { code: string; isClosed: boolean; isLineCut: boolean } {
    const isClosed = this.#isClosing;
    const isLineCut = this.#place !== 'indent' || this.#space !== '';
    const isHeld = isLineCut && !isClosed && this.#place !== 'body';
    const code = isHeld ? this.#beginBody('\n') : '';
    this.#endLine();
    this.#hasLines = false;
    return { code, isClosed, isLineCut };
  }

  /** Whether the line up to here closes the fence, if it ends here. */
  get #isClosing(): boolean {
    return this.#place === 'tail' || (this.#place === 'fence' && this.#isLongEnough);
  }

  get #isLongEnough(): boolean {
    return this.#length >= this.#fence.length;
  }

  /** The position in the line after this character. */
  #placeWith(char: string): LinePlace {
    const isSpace = char === ' ' || char === '\t';
    const isFence = char === this.#fence.char;
    switch (this.#place) {
      case 'indent':
        if (isSpace) return 'indent';
        return isFence && this.#column - this.#fence.itemColumn <= MAX_INDENT ? 'fence' : 'body';
      case 'fence':
        if (isFence) return 'fence';
        return isSpace && this.#isLongEnough ? 'tail' : 'body';
      case 'tail':
        return isSpace ? 'tail' : 'body';
      case 'body':
        return 'body';
      default:
        return this.#place satisfies never;
    }
  }

  #hold(place: Exclude<LinePlace, 'body'>, char: string): void {
    this.#place = place;
    if (place === 'indent') {
      this.#space += char;
      this.#column = columnAfter(char, this.#column);
    } else this.#held += char;
    if (place === 'fence') this.#length++;
  }

  /** To be called when the `next` character shows that the line is code. Returns the held part of the line. */
  #beginBody(next: string): string {
    const isBlank = this.#place === 'indent' && next === '\n';
    if (!isBlank && !this.#hasCode) {
      this.#hasCode = true;
      // The first line shows whether the code is indented with its list item.
      if (this.#column < this.#fence.itemColumn) this.#codeColumn = this.#column;
    }
    const lineEnd = this.#hasLines ? '\n' : '';
    this.#hasLines = true;
    this.#place = 'body';
    return lineEnd + withoutColumns(this.#space, this.#codeColumn) + this.#held;
  }

  #endLine(): void {
    this.#place = 'indent';
    this.#column = 0;
    this.#space = '';
    this.#held = '';
    this.#length = 0;
  }
}
