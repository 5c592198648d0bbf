/** Cuts a growing text into the pieces that are sent. */
import { UI_LIMITS } from './limits.ts';

/** Where a text is cut depends on the text alone, so its pieces have the same numbers at each reading. */
export class Pieces {
  #rest = '';

  /** The pieces that are complete with this text. */
  push(text: string): string[] {
    this.#rest += text;
    const pieces = this.#rest.match(PIECE) ?? [];
    const cut = pieces.reduce((sum, piece) => sum + piece.length, 0);
    this.#rest = this.#rest.slice(cut);
    return pieces;
  }

  /** What is left at the end of a text, if anything is. */
  end(): string[] {
    const rest = this.#rest;
    this.#rest = '';
    return rest === '' ? [] : [rest];
  }
}

const { pieceChars } = UI_LIMITS;

/**
 * A long piece needs a character behind it: the last half of a surrogate pair may still be missing. The first `\S\s`
 * that fits wins, and later text cannot change it.
 */
const PIECE = new RegExp(`[^]{0,${pieceChars - 1}}?\\S\\s|[^]{${pieceChars}}(?=[^])`, 'guy');
