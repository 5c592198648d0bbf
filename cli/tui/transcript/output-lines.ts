/** The output of a command with the colours that it has itself, as those of the terminal. */
import { type Colour, piecesOf, type StyledText } from '../../../shared/shown/terminal-lines.ts';
import type { Paint, Style } from '../../terminal/paint.ts';

/** One line for each line of the text. */
export function outputLines(text: string, paint: Paint): string[] {
  const lines = [''];
  for (const piece of piecesOf(text)) {
    const [first = '', ...rest] = paintedLines(piece, paint);
    lines.push(`${lines.pop()}${first}`, ...rest);
  }
  return lines;
}

/** No colour reaches over the end of a line. */
function paintedLines({ text, look }: StyledText, paint: Paint): string[] {
  const styles: Style[] = [
    ...(look.text ? COLOURS[look.text] : []),
    ...look.decorations,
    ...(look.ground ? GROUND : []),
  ];
  const lines = text.replaceAll('\t', TAB).split('\n');
  return lines.map((line) =>
    line === '' ? '' : styles.reduce((painted, style) => paint(style, painted), line),
  );
}

/** Black and white are readable on one of a light and a dark ground only. */
const COLOURS: Readonly<Record<Colour, readonly Style[]>> = {
  black: ['dim'],
  red: ['red'],
  green: ['green'],
  yellow: ['yellow'],
  blue: ['blue'],
  magenta: ['magenta'],
  cyan: ['cyan'],
  white: [],
};

/** Stands for every ground: any text is readable on it. */
const GROUND: readonly Style[] = ['inverse'];

const TAB = '    ';
