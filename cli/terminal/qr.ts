/** QR codes for the cameras of phones. */
import { renderUnicodeCompact } from 'uqr';
import type { Terminal } from './terminal.ts';

/** Shows the text as a QR code, where a person sees a terminal that is wide enough for it. */
export function showQr({ columns, paint, write }: Terminal, text: string): void {
  if (columns === undefined) return;
  const lines = renderUnicodeCompact(text, { border: BORDER }).split('\n');
  if (lines.some(({ length }) => length > columns)) return;
  // Light on dark, whatever the terminal's colours: not every camera reads the inverse.
  const painted = lines.map((line) => paint('bgBlack', paint('whiteBright', line)));
  write(`\n${painted.join('\n')}\n\n`);
}

/** Modules around the code. Cameras find it with half of the four that the standard asks for. */
const BORDER = 2;
