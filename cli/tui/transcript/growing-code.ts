/** Code that grows: a line that no later one can change is coloured and wrapped once. */
import { wrapTextWithAnsi } from '@earendil-works/pi-tui';
import { printable } from '../../../shared/text/plain-sight.ts';
import { SCREEN_LIMITS } from '../../limits.ts';
import type { Paint } from '../../terminal/paint.ts';
import type { CodeColours } from './code-colours.ts';
import { Growing } from './growing.ts';

/** The code of a document. */
export interface Code {
  readonly text: () => string;
  readonly language: string;
  /** Whether more of it may come. */
  readonly isOpen: () => boolean;
  /** The numbers of its first and last line; absent where lines have no numbers. */
  readonly numbers?: { readonly first: number; readonly last: number };
}

export class GrowingCode extends Growing {
  readonly #code: Code;
  readonly #colours: CodeColours;
  readonly #paint: Paint;
  #nextNumber: number;
  /** What comes after the finished lines. */
  #tail = '';
  /** The lines of the tail's beginning, in which something such as a comment is open at the end. */
  #begun: readonly string[] = [];
  #begunChars = 0;

  constructor(code: Code, colours: CodeColours, paint: Paint) {
    super(code.text, colours);
    this.#code = code;
    this.#colours = colours;
    this.#paint = paint;
    this.#nextNumber = code.numbers?.first ?? 1;
  }

  protected override reset(): void {
    this.#tail = '';
    this.#begun = [];
    this.#begunChars = 0;
    this.#nextNumber = this.#code.numbers?.first ?? 1;
  }

  protected override grow(news: string): void {
    this.#tail += printable(news).replaceAll('\t', TAB);
    while (this.#finishSome());
  }

  protected override tailAt(width: number): readonly string[] {
    const rest = this.#tail.slice(this.#begunChars).replace(/\n$/, '');
    const plain = rest === '' ? [] : rest.split('\n');
    return [...this.#begun, ...plain].flatMap((line, index) =>
      this.#wrapped(line, this.#nextNumber + index, width),
    );
  }

  /** Looks at some whole lines; returns whether there are more to look at. */
  #finishSome(): boolean {
    const tail = this.#tail;
    const isOpen = this.#code.isOpen();
    const all = isOpen ? tail.lastIndexOf('\n') : tail.replace(/\n$/, '').length;
    // Twice as long as at the last try: a long comment takes no square of its length.
    const least = 2 * this.#begunChars;
    if (tail === '' || (isOpen && all <= least)) return false;
    const next = tail.indexOf('\n', Math.max(least, SCREEN_LIMITS.highlightStep));
    const end = next < 0 ? all : Math.min(next, all);
    const part = this.#colours.partOf(tail.slice(0, end), this.#code.language);
    if (part.isSelfContained || (!isOpen && end === all)) {
      for (const line of part.lines) {
        const number = this.#nextNumber++;
        this.finish((width) => this.#wrapped(line, number, width));
      }
      this.#tail = tail.slice(end + 1);
      this.#begun = [];
      this.#begunChars = 0;
    } else {
      this.#begun = part.lines;
      this.#begunChars = end + 1;
    }
    return end < all;
  }

  #wrapped(line: string, number: number, width: number): readonly string[] {
    const { numbers } = this.#code;
    const digits = numbers ? String(numbers.last).length : 0;
    const margin = numbers ? `${String(number).padStart(digits)}  ` : INDENT;
    const blank = ' '.repeat(margin.length);
    const first = numbers ? this.#paint('dim', margin) : margin;
    const room = Math.max(1, width - margin.length);
    return wrapTextWithAnsi(line, room).map((part, at) => `${at === 0 ? first : blank}${part}`);
  }
}

const INDENT = '  ';
const TAB = '    ';
