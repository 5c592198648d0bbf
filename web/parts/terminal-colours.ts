/** The colours of a command's output. A file of its own, which the page loads when it first shows colours. */
import Anser from 'anser';
import { printable } from '../../shared/text/plain-sight.ts';
import { statesOf } from './terminal-lines.ts';

/** Text of one look. `classes` are those of parts.css. */
export interface Piece {
  readonly text: string;
  readonly classes: string;
}

/** The pieces of a text of few lines. */
export function piecesOf(text: string): Piece[] {
  return Anser.ansiToJson(statesOf(text), {
    json: true,
    use_classes: true,
    remove_empty: true,
  }).map((entry) => ({ text: printable(entry.content), classes: classesOf(entry) }));
}

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
