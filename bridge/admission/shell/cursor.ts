/** A position in a command line that moves as a shell does: it skips a backslash with the line end after it. */
export class Cursor {
  readonly line: string;
  /** False once it has met text that some shells read differently. */
  isPlain = true;
  #at = 0;

  constructor(line: string) {
    this.line = line;
    this.jump(0);
  }

  get at(): number {
    return this.#at;
  }

  /** The character here; empty at the end. */
  get char(): string {
    return this.line.charAt(this.#at);
  }

  /** The next character; empty at the end. */
  get next(): string {
    return this.line.charAt(this.#overContinuations(this.#at + 1));
  }

  step(): void {
    this.jump(this.#at + 1);
  }

  /** Moves to a position that is not inside quotes. */
  jump(at: number): void {
    this.#at = this.#overContinuations(at);
    // Between words, a continued line is normal. Inside a word, shells differ.
    if (this.#at !== at && !' \t\n'.includes(this.line.charAt(at - 1))) this.isPlain = false;
  }

  /** The text that a pattern with the flag `y` matches here. */
  match(sticky: RegExp): string | undefined {
    sticky.lastIndex = this.#at;
    return sticky.exec(this.line)?.[0];
  }

  /** The line from `start` to here, as written. */
  since(start: number): string {
    return this.line.slice(start, this.#at);
  }

  skipBlanks(): void {
    while (this.char === ' ' || this.char === '\t') this.step();
  }

  #overContinuations(at: number): number {
    let end = at;
    while (this.line.startsWith('\\\n', end)) end += 2;
    return end;
  }
}
