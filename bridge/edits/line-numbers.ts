/** Line numbers as read_file shows them: put before lines for the model, and never accepted back as text. */
import { countLines, lineTexts } from './lines.ts';

/** `12|text`. */
export function numberLine(number: number, text: string): string {
  return `${number}|${text}`;
}

/** Whether every line carries a number and they count up, as in a copied answer of read_file. */
export function hasLineNumbers(text: string): boolean {
  const lines = lineTexts(text.replace(/\n$/, ''));
  const first = numberOf(lines[0] ?? '');
  return first !== null && lines.every((line, index) => numberOf(line) === first + index);
}

/** The same, of a text long enough that it is no table that happens to begin with numbers. */
export function isCopiedWithNumbers(text: string): boolean {
  return countLines(text) >= FEWEST_COPIED_LINES && hasLineNumbers(text);
}

const FEWEST_COPIED_LINES = 3;

function numberOf(line: string): number | null {
  const digits = /^\s*(\d{1,9})\|/.exec(line)?.[1];
  return digits === undefined ? null : Number(digits);
}
