/** Writes text down and knows where it stands: at the start of a line, below an empty one, or in the middle. */

/** How many line ends the text so far ends with; two of them are an empty line. */
export type LineEnds = 0 | 1 | 2;

export class Pen {
  #text = '';
  #lineEnds: LineEnds;

  constructor(lineEnds: LineEnds) {
    this.#lineEnds = lineEnds;
  }

  get text(): string {
    return this.#text;
  }

  get lineEnds(): LineEnds {
    return this.#lineEnds;
  }

  write(text: string): void {
    if (text === '') return;
    this.#text += text;
    const ends = lineEndsOf(text);
    const total = ends === text.length ? this.#lineEnds + ends : ends;
    this.#lineEnds = total >= 2 ? 2 : total === 1 ? 1 : 0;
  }

  /** Begins a new line, unless one has just begun. */
  line(): void {
    if (this.#lineEnds === 0) this.write('\n');
  }

  /** Leaves one line empty, unless one is. */
  gap(): void {
    this.line();
    if (this.#lineEnds === 1) this.write('\n');
  }

  /**
   * Whole lines, each moved in, and in a style where one is given. Text that ends in the middle of a line is gone on
   * with by the next call.
   */
  indented(text: string, style: (line: string) => string = (line) => line): void {
    const lines = text.split('\n');
    lines.forEach((line, index) => {
      if (index > 0) this.write('\n');
      if (line !== '') this.write((this.#lineEnds === 0 ? '' : INDENT) + style(line));
    });
  }
}

const INDENT = '  ';

/** Of the text's end, all of them. */
function lineEndsOf(text: string): number {
  let start = text.length;
  while (text[start - 1] === '\n') start--;
  return text.length - start;
}
