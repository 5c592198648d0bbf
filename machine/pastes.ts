/** Distinguishes pasted text from typed keys where a terminal marks it (mode 2004, "bracketed paste"). */

/** Asks the terminal to mark pasted text. */
export const MARK_PASTES = '\x1b[?2004h';
export const LEAVE_PASTES_UNMARKED = '\x1b[?2004l';

const START = '\x1b[200~';
const END = '\x1b[201~';

export interface PastePiece {
  readonly type: 'typed' | 'pasted';
  readonly text: string;
}

/** Reads a terminal's input, cut at any place: a piece may begin a paste that goes on in the next one. */
export class PasteReader {
  #held = '';
  #isPasting = false;
  #endsInReturn = false;

  /** Whether the end of a paste is still to come. */
  get isPasting(): boolean {
    return this.#isPasting;
  }

  /** Whether held-back text may be the beginning of a mark. */
  get isHolding(): boolean {
    return this.#held !== '';
  }

  read(text: string): PastePiece[] {
    let rest = this.#held + text;
    const pieces: PastePiece[] = [];
    for (;;) {
      const mark = this.#isPasting ? END : START;
      const at = rest.indexOf(mark);
      if (at < 0) break;
      this.#add(pieces, rest.slice(0, at));
      rest = rest.slice(at + mark.length);
      this.#isPasting = !this.#isPasting;
      this.#endsInReturn = false;
    }
    const begun = beginningAtEnd(rest, this.#isPasting ? END : START);
    this.#held = rest.slice(rest.length - begun);
    this.#add(pieces, rest.slice(0, rest.length - begun));
    return pieces;
  }

  /** Called after a pause: held-back text is no mark, and a paste without an end is over. */
  flush(): PastePiece[] {
    const pieces: PastePiece[] = [];
    this.#add(pieces, this.#held);
    this.#held = '';
    this.#isPasting = false;
    return pieces;
  }

  #add(pieces: PastePiece[], text: string): void {
    if (text === '') return;
    if (!this.#isPasting) pieces.push({ type: 'typed', text });
    else pieces.push({ type: 'pasted', text: this.#pasted(text) });
  }

  /** Turns line ends into line feeds, and removes characters that could steer the terminal. */
  #pasted(text: string): string {
    const whole = this.#endsInReturn && text.startsWith('\n') ? text.slice(1) : text;
    this.#endsInReturn = text.endsWith('\r');
    return whole.replaceAll(/\r\n?/g, '\n').replaceAll(/[^\P{Cc}\n\t]/gu, '');
  }
}

/** How many characters at the end of the text begin the mark. */
function beginningAtEnd(text: string, mark: string): number {
  for (let length = Math.min(mark.length - 1, text.length); length > 0; length--) {
    if (text.endsWith(mark.slice(0, length))) return length;
  }
  return 0;
}
