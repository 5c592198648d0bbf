/** What a terminal would show of a command's output: its last lines. */
// biome-ignore-all lint/suspicious/noControlCharactersInRegex: the patterns look for them.
import { printable, shorten } from '../../shared/text/plain-sight.ts';
import { PART_LIMITS } from './limits.ts';

export interface LastLines {
  readonly text: string;
  /** Lines before it. */
  readonly hidden: number;
}

/** Looks at no more of the text than it returns, but for counting. A line feed at the end ends the last line. */
export function lastLines(output: string, count: number): LastLines {
  const end = output.endsWith('\n') ? output.length - 1 : output.length;
  let start = end;
  for (let line = 0; line < count && start >= 0; line++) start = lineFeedBefore(output, start);
  return { text: output.slice(start + 1, end), hidden: countLineFeeds(output, start) };
}

/** The lines of a text of few lines, cut where they are too long. Every control sequence that is no colour is removed. */
export function statesOf(text: string): string {
  const lines = text.split('\n').map(lastState);
  return lines.map((line) => shorten(line, PART_LIMITS.outputLineChars)).join('\n');
}

/** The text without colours. */
export function plainOutput(output: string): string {
  return printable(output.split('\n').map(lastState).join('\n'));
}

function lineFeedBefore(text: string, at: number): number {
  return at === 0 ? -1 : text.lastIndexOf('\n', at - 1);
}

/** Up to the position, inclusive. */
function countLineFeeds(text: string, upTo: number): number {
  let count = 0;
  for (let at = text.indexOf('\n'); at >= 0 && at <= upTo; at = text.indexOf('\n', at + 1)) count++;
  return count;
}

/** A program that shows its progress returns to the start of the line and writes it again. */
function lastState(line: string): string {
  const visible = line.replaceAll(STRINGS, '').replaceAll(OTHER_SEQUENCES, '');
  const states = visible.split('\r').filter((state) => state.replaceAll(COLOURS, '') !== '');
  // A backspace goes over the character before it, as the pages of `man` do for bold type.
  return (states.at(-1) ?? '').replaceAll(/[^\u0008]\u0008/g, '');
}

/** Of an operating system command and its like: titles, links, the clipboard. */
const STRINGS = /\u001b[\]PX^_][^\u0007\u001b]*(?:\u0007|\u001b\\)?/g;
const COLOURS = /\u001b\[[\d;]*m/g;
/** Moves of the cursor and everything else that begins with an escape and is no colour. */
const OTHER_SEQUENCES = /\u001b\[(?![\d;]*m)[0-?]*[ -/]*[@-~]?|\u001b(?!\[)[ -/]*[0-~]?/g;
