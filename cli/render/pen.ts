/** Collects text and knows its position: at the start of a line, below an empty line, or inside a line. */

/** The number of line ends that the text ends with, counted up to 2; two mean an empty line. */
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

  /** Leaves one line empty, unless the last one is empty. */
  gap(): void {
    this.line();
    if (this.#lineEnds === 1) this.write('\n');
  }

  /** Writes each line indented and in the style. A text that ends inside a line is continued by the next call. */
  indented(text: string, style: (line: string) => string = (line) => line): void {
    const lines = text.split('\n');
    lines.forEach((line, index) => {
      if (index > 0) this.write('\n');
      if (line !== '') this.write((this.#lineEnds === 0 ? '' : INDENT) + style(line));
    });
  }
}

const INDENT = '  ';

/** Counts every line end at the end of the text. */
function lineEndsOf(text: string): number {
  let start = text.length;
  while (text[start - 1] === '\n') start--;
  return text.length - start;
}
