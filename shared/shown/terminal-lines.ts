/** What a terminal would show of a command's output: its last lines, in pieces of one colour. */
// biome-ignore-all lint/suspicious/noControlCharactersInRegex: the patterns look for them.
import { printable, shorten } from '../text/plain-sight.ts';
import { SHOWN_LIMITS } from './limits.ts';

/** Text of one look. */
export interface StyledText {
  readonly text: string;
  readonly look: TextLook;
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
export function piecesOf(text: string): StyledText[] {
  const lines = text.split('\n').map((line) => shorten(lastState(recent(line)), MAX_LINE));
  // The codes of each change stand between the texts before and after it.
  const [first = '', ...changes] = lines.join('\n').split(COLOURS);
  let look = PLAIN;
  const pieces: StyledText[] = [{ text: printable(first), look }];
  for (let at = 0; at < changes.length; at += 2) {
    look = changedLook(look, changes[at] ?? '');
    pieces.push({ text: printable(changes[at + 1] ?? ''), look });
  }
  return pieces.filter((piece) => piece.text !== '');
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

/** Of a very long line, such as a progress of hours, what its last state can depend on. */
function recent(line: string): string {
  const end = line.length - MAX_LINE;
  if (end <= 0) return line;
  const lastReturn = line.indexOf('\r', end);
  if (lastReturn >= 0 && lastReturn < line.length - 1) return line.slice(lastReturn);
  const start = line.lastIndexOf('\r', end) + 1;
  // Twice as much: colours and moves of the cursor are not shown.
  return line.slice(start, start + 2 * MAX_LINE);
}

const MAX_LINE = SHOWN_LIMITS.outputLineChars;

/** A program that shows its progress returns to the start of the line and writes it again. */
function lastState(line: string): string {
  const visible = line.replaceAll(STRINGS, '').replaceAll(OTHER_SEQUENCES, '');
  const states = visible.split('\r').filter((state) => state.replaceAll(COLOURS, '') !== '');
  // A backspace goes over the character before it, as the pages of `man` do for bold type.
  return (states.at(-1) ?? '').replaceAll(/[^\u0008]\u0008/g, '');
}

/** Of an operating system command and its like: titles, links, the clipboard. */
const STRINGS = /\u001b[\]PX^_][^\u0007\u001b]*(?:\u0007|\u001b\\)?/g;
const COLOURS = /\u001b\[([\d;]*)m/g;
/** Moves of the cursor and everything else that begins with an escape and is no colour. */
const OTHER_SEQUENCES = /\u001b\[(?![\d;]*m)[0-?]*[ -/]*[@-~]?|\u001b(?!\[)[ -/]*[0-~]?/g;

/** How text looks after the codes so far. What is hidden or blinks is shown like other text. */
export interface TextLook {
  /** The colour of the text and of its ground; none for greys. */
  readonly text?: Colour | undefined;
  readonly ground?: Colour | undefined;
  readonly decorations: readonly Decoration[];
}

/** Of the eight colours of a terminal: its own sixteen and all others are shown as the nearest of them. */
export type Colour =
  | ('black' | 'red' | 'green' | 'yellow')
  | ('blue' | 'magenta' | 'cyan' | 'white');

export type Decoration = 'bold' | 'dim' | 'italic' | 'underline' | 'strikethrough';

const PLAIN: TextLook = { decorations: [] };

const DECORATIONS: ReadonlyMap<number, Decoration> = new Map([
  [1, 'bold'],
  [2, 'dim'],
  [3, 'italic'],
  [4, 'underline'],
  [9, 'strikethrough'],
]);

/** What each code ends. */
const ENDED: ReadonlyMap<number, readonly Decoration[]> = new Map([
  [21, ['bold']],
  [22, ['bold', 'dim']],
  [23, ['italic']],
  [24, ['underline']],
  [29, ['strikethrough']],
]);

/** Select Graphic Rendition (ECMA-48, 8.3.117): codes with `;` between them. */
function changedLook(look: TextLook, codes: string): TextLook {
  const numbers = codes.split(';').map(Number);
  let next = look;
  while (numbers.length > 0) next = { ...next, ...changeOf(next, numbers) };
  return next;
}

/** Takes one code off the front, with what belongs to it. */
function changeOf({ decorations }: TextLook, numbers: number[]): Partial<TextLook> {
  const code = numbers.shift() ?? 0;
  if (code === 0) return { ...PLAIN, text: undefined, ground: undefined };
  const others = (names: readonly Decoration[]) =>
    decorations.filter((name) => !names.includes(name));
  const decoration = DECORATIONS.get(code);
  if (decoration) return { decorations: [...others([decoration]), decoration] };
  const ended = ENDED.get(code);
  if (ended) return { decorations: others(ended) };
  const tens = Math.floor(code / 10);
  const place = { 3: 'text', 9: 'text', 4: 'ground', 10: 'ground' }[tens];
  if (place === undefined) return {};
  return { [place]: code % 10 === 8 ? furtherColour(numbers) : BY_BITS[code % 10] };
}

/** A colour of the terminal's 256 (`5;n`) or any other one (`2;r;g;b`). */
function furtherColour(numbers: number[]): Colour | undefined {
  const kind = numbers.shift();
  if (kind === 2) return nearest(numbers.splice(0, 3));
  if (kind !== 5) return undefined;
  const index = numbers.shift() ?? 0;
  return index < 16 ? BY_BITS[index % 8] : nearest(cubeColour(index));
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

function nearest(rgb: readonly number[]): Colour | undefined {
  const [least, most] = [Math.min(...rgb), Math.max(...rgb)];
  if (!(most - least > NEARLY_GREY)) return undefined;
  const middle = (least + most) / 2;
  const bits = rgb.map((value, at) => (value > middle ? 2 ** at : 0));
  return BY_BITS[bits.reduce((sum, bit) => sum + bit, 0)];
}

const NEARLY_GREY = 40;
/** By red (1), green (2) and blue (4). */
const BY_BITS: readonly Colour[] = [
  'black',
  'red',
  'green',
  'yellow',
  'blue',
  'magenta',
  'cyan',
  'white',
];
