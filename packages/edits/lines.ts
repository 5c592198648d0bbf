/** A text as lines that know their offsets, so that an edit splices and leaves every other byte alone. */

/** One line without its line end. `start` and `end` are offsets into the text, in UTF-16 units. */
export interface TextLine {
  readonly text: string;
  readonly start: number;
  readonly end: number;
}

export type Eol = '\n' | '\r\n';

/** Splits at `\n` and `\r\n`. As with `String.split`, an empty line follows a final line end. */
export function splitLines(text: string): TextLine[] {
  const lines: TextLine[] = [];
  for (let start = 0; start <= text.length; ) {
    const newline = text.indexOf('\n', start);
    const next = newline === -1 ? text.length + 1 : newline + 1;
    const end = newline > start && text[newline - 1] === '\r' ? newline - 1 : next - 1;
    lines.push({ text: text.slice(start, end), start, end });
    start = next;
  }
  return lines;
}

/** The texts of all lines, without line ends. */
export function lineTexts(text: string): string[] {
  return [...eachLineText(text)];
}

/** The same, one at a time: a text of only line ends has more lines than fit in memory at once. */
export function* eachLineText(text: string): Generator<string, void, undefined> {
  for (let start = 0; start <= text.length; ) {
    const newline = text.indexOf('\n', start);
    const next = newline === -1 ? text.length + 1 : newline + 1;
    const end = newline > start && text[newline - 1] === '\r' ? newline - 1 : next - 1;
    yield text.slice(start, end);
    start = next;
  }
}

/** The number of lines as a person counts them: a final line end starts no new line, and an empty text has none. */
export function countLines(text: string): number {
  let count = 0;
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) count++;
  return text === '' || text.endsWith('\n') ? count : count + 1;
}

/** The texts of `count` lines from the index `first` on, without splitting the rest. */
export function lineTextsFrom(text: string, first: number, count: number): string[] {
  let start = 0;
  for (let skipped = 0; skipped < first; skipped++) {
    const newline = text.indexOf('\n', start);
    if (newline === -1) return [];
    start = newline + 1;
  }
  let end = start - 1;
  for (let taken = 0; taken < count; taken++) {
    end = text.indexOf('\n', end + 1);
    if (end === -1) return lineTexts(text.slice(start));
  }
  return lineTexts(text.slice(start, end + 1)).slice(0, count);
}

/** The index of the line that holds this offset. A line's end belongs to the line. */
export function lineIndexAt(lines: readonly Pick<TextLine, 'start'>[], offset: number): number {
  let low = 0;
  let high = lines.length - 1;
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if ((lines[middle]?.start ?? 0) <= offset) low = middle;
    else high = middle - 1;
  }
  return low;
}

/** The line end for new text on this line: the line's own, for the last line that of the line before, else `\n`. */
export function eolOfLine(text: string, lines: readonly TextLine[], index: number): Eol {
  const line = lines[Math.max(0, Math.min(index, lines.length - 2))];
  return line !== undefined && text[line.end] === '\r' ? '\r\n' : '\n';
}

/** The line end that all lines of the text share; null when they differ or there is none. */
export function uniformEol(text: string): Eol | null {
  const newlines = text.split('\n').length - 1;
  if (newlines === 0) return null;
  const crlf = text.split('\r\n').length - 1;
  if (crlf === 0) return '\n';
  return crlf === newlines ? '\r\n' : null;
}

/** The text with every line end replaced by `eol`. */
export function withEol(text: string, eol: Eol): string {
  const plain = text.replaceAll('\r\n', '\n');
  return eol === '\n' ? plain : plain.replaceAll('\n', () => eol);
}

/**
 * How much a line says about its place: blank lines nearly nothing, brackets and bare keywords little. Two weak lines
 * never outweigh one informative line.
 */
export function weighLine(text: string): number {
  const trimmed = text.trim();
  if (trimmed === '') return BLANK_WEIGHT;
  return WEAK.test(trimmed) ? WEAK_WEIGHT : INFORMATIVE_WEIGHT;
}

/** The weight of an informative line. */
export const INFORMATIVE_WEIGHT = 8;
const WEAK_WEIGHT = 3;
const BLANK_WEIGHT = 1;
const WEAK =
  /^(?:[\])}{(;,>]+|\}\s*else\s*\{|else:?|end|return;?|break;?|pass|\*\/|\/\*\*?|\*|\/\/|#|<\/[\w.:-]+>)$/;
