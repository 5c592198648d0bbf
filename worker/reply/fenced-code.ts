/** The code of one fence: its lines without their indentation, up to the line that closes it. */
import { columnAfter, withoutColumns } from './columns.ts';
import { MAX_INDENT, type OpenFence } from './prose.ts';

/** In a line; `body` is all of it that cannot close the fence. */
type Place = 'indent' | 'fence' | 'tail' | 'body';

/**
 * Reads every character once and holds back each line's indentation and what may be the closing line. Line ends stand
 * between lines only, so neither the first nor the last line brings one.
 *
 * Inside a list item it is kinder than CommonMark, by which a line indented less than the item ends the code: models
 * write such lines (here-documents, or all of the code), and the closing fence would then open another one and
 * swallow the rest of the answer. Only a closing line or the end of the text ends the code here.
 */
export class FencedCode {
  readonly #fence: OpenFence;
  /** How much indentation is no part of the code. */
  #codeColumn: number;
  #place: Place = 'indent';
  #column = 0;
  #space = '';
  /** What may be the closing fence and the blanks behind it. */
  #held = '';
  #length = 0;
  #hasLines = false;
  /** A line that is not blank has begun. */
  #hasCode = false;

  constructor(fence: OpenFence) {
    this.#fence = fence;
    this.#codeColumn = fence.column;
  }

  /** `end` is the index behind what was read: before the input's end only where the fence is closed. */
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

  /**
   * The line ends here: what was held back and is code after all, or the fence's end. Code that is read on begins with a
   * line of its own.
   */
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

  /** Where the line is with this character: in its `body` once it can no longer close the fence. */
  #placeWith(char: string): Place {
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

  #hold(place: Exclude<Place, 'body'>, char: string): void {
    this.#place = place;
    if (place === 'indent') {
      this.#space += char;
      this.#column = columnAfter(char, this.#column);
    } else this.#held += char;
    if (place === 'fence') this.#length++;
  }

  /** The line is code, as its `next` character shows: what of it was held back. */
  #beginBody(next: string): string {
    const isBlank = this.#place === 'indent' && next === '\n';
    if (!isBlank && !this.#hasCode) {
      this.#hasCode = true;
      // The first line shows whether the code is indented with its list item at all.
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
