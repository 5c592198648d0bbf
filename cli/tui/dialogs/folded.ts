/** Long lines in the width of the screen, so that no text can pretend to be two lines. */
import { visibleWidth } from '@earendil-works/pi-tui';

/** Stands at the beginning of each piece but the first, where no line of a proposal has anything but blanks. */
export const CONTINUED = '↳ ';

/** The pieces of a line, each at most `width` columns wide. Nothing is left out, not even blanks. */
export function folded(text: string, width: number): string[] {
  const pieces: string[] = [];
  let piece = '';
  let columns = 0;
  for (const character of charactersOf(text)) {
    const taken = ASCII.test(character) ? 1 : visibleWidth(character);
    if (columns + taken > width && columns > CONTINUED.length) {
      const at = breakOf(piece);
      pieces.push(piece.slice(0, at));
      piece = `${CONTINUED}${piece.slice(at)}`;
      columns = visibleWidth(piece);
    }
    piece += character;
    columns += taken;
  }
  return [...pieces, piece];
}

/** After the last blank, if that is not too far back. */
function breakOf(piece: string): number {
  const at = piece.lastIndexOf(' ') + 1;
  return at > piece.length / 2 ? at : piece.length;
}

const SEGMENTS = new Intl.Segmenter(undefined, { granularity: 'grapheme' });
const ASCII = /^[ -~]*$/;

/** What a person sees as characters. */
function charactersOf(text: string): Iterable<string> {
  if (ASCII.test(text)) return text;
  return Array.from(SEGMENTS.segment(text), ({ segment }) => segment);
}
