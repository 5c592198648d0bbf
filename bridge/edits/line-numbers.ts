/** Line numbers as read_file shows them: put before lines for the model, and never accepted back as text. */
import { countLines, eachLineText } from './lines.ts';

/** `12|text`. */
export function numberLine(number: number, text: string): string {
  return `${number}|${text}`;
}

/** Whether every line carries a number and they count up, as in a copied answer of read_file. */
export function hasLineNumbers(text: string): boolean {
  let next: number | null = null;
  for (const line of eachLineText(text.replace(/\n$/, ''))) {
    const number = numberOf(line);
    if (number === null || (next !== null && number !== next)) return false;
    next = number + 1;
  }
  return true;
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
