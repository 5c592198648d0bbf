/** Line numbers as read_file shows them. The model sees them before lines; an edit's text must not contain them. */
import { countLines, eachLineText } from './lines.ts';

/** For example `12|text`. */
export function numberLine(number: number, text: string): string {
  return `${number}|${text}`;
}

/** Whether every line carries a number and the numbers count up, as in a copied answer of read_file. */
export function hasLineNumbers(text: string): boolean {
  let next: number | null = null;
  for (const line of eachLineText(text.replace(/\n$/, ''))) {
    const number = numberOf(line);
    if (number === null || (next !== null && number !== next)) return false;
    next = number + 1;
  }
  return true;
}

/** The same, for a text with at least three lines: a shorter one may be a table that begins with numbers. */
export function isCopiedWithNumbers(text: string): boolean {
  return countLines(text) >= FEWEST_COPIED_LINES && hasLineNumbers(text);
}

const FEWEST_COPIED_LINES = 3;

function numberOf(line: string): number | null {
  const digits = /^\s*(\d{1,9})\|/.exec(line)?.[1];
  return digits === undefined ? null : Number(digits);
}
