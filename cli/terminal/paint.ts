/** Colours of the terminal, or none. */
import { styleText } from 'node:util';

export type Style =
  | ('bold' | 'cyan' | 'dim' | 'green' | 'red' | 'yellow')
  | ('bgBlack' | 'whiteBright');

/** Text in a style. */
export type Paint = (style: Style, text: string) => string;

/** Leaves text as it is: for pipes, files and `NO_COLOR`. */
export const plain: Paint = (_, text) => text;

/** With the escape sequences of ANSI terminals. */
export const coloured: Paint = (style, text) => styleText(style, text, { validateStream: false });
