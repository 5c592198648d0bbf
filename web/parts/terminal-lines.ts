/** What a terminal would show of a command's output: its last lines, in pieces of one colour. */
// biome-ignore-all lint/suspicious/noControlCharactersInRegex: the patterns look for them.
import Anser from 'anser';
import { printable, shorten } from '../../shared/text/plain-sight.ts';
import { PART_LIMITS } from './limits.ts';

/** Text of one look. `classes` are those of parts.css. */
export interface Piece {
  readonly text: string;
  readonly classes: string;
}

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

/** The pieces of a text of few lines. Every control sequence that is no colour is removed. */
export function piecesOf(text: string): Piece[] {
  const lines = text
    .split('\n')
    .map((line) => shorten(lastState(line), PART_LIMITS.outputLineChars));
  return Anser.ansiToJson(lines.join('\n'), {
    json: true,
    use_classes: true,
    remove_empty: true,
  }).map((entry) => ({ text: printable(entry.content), classes: classesOf(entry) }));
}

/** The text without colours, for the clipboard. */
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

/** What is hidden or blinks is shown like other text. */
function classesOf({
  fg,
  bg,
  fg_truecolor,
  bg_truecolor,
  decorations,
}: Anser.AnserJsonEntry): string {
  const [text, ground] = [colourOf(fg, fg_truecolor), colourOf(bg, bg_truecolor)];
  return [
    ...(text ? [`ansi-${text}`] : []),
    ...(ground ? [`on-${ground}`] : []),
    ...decorations.filter((name) => SHOWN_DECORATIONS.includes(name)).map((name) => `ansi-${name}`),
  ].join(' ');
}

const SHOWN_DECORATIONS: readonly string[] = [
  'bold',
  'dim',
  'italic',
  'underline',
  'strikethrough',
];

/** One of the eight colours, which are readable on both themes; none for greys. */
function colourOf(name: string | null, trueColour: string | null): string | undefined {
  const known = /^ansi-(?:bright-)?(\w+)$/.exec(name ?? '')?.[1];
  if (known === 'truecolor') return nearest((trueColour ?? '').split(',').map(Number));
  if (known) return known;
  const index = /^ansi-palette-(\d+)$/.exec(name ?? '')?.[1];
  return index === undefined ? undefined : nearest(cubeColour(Number(index)));
}

/** Of a terminal's 256 colours, 16 to 231 are a cube with six steps of red, green and blue. */
function cubeColour(index: number): number[] {
  const [first, steps] = [16, 6];
  const at = index - first;
  if (at < 0 || at >= steps ** 3) return [];
  const step = 255 / (steps - 1);
  return [Math.floor(at / steps ** 2), Math.floor(at / steps) % steps, at % steps].map(
    (n) => n * step,
  );
}

function nearest(rgb: readonly number[]): string | undefined {
  const [least, most] = [Math.min(...rgb), Math.max(...rgb)];
  if (!(most - least > NEARLY_GREY)) return undefined;
  const middle = (least + most) / 2;
  const bits = rgb.map((value, at) => (value > middle ? 2 ** at : 0));
  return BY_BITS[bits.reduce((sum, bit) => sum + bit, 0)];
}

const NEARLY_GREY = 40;
/** By red (1), green (2) and blue (4). */
const BY_BITS = ['black', 'red', 'green', 'yellow', 'blue', 'magenta', 'cyan', 'white'];
