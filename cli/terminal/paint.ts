/** Colours of the terminal, or none. */
import { styleText } from 'node:util';

/** Of the sixteen colours that the terminal's own theme defines: they are readable on a light and on a dark ground. */
export type Style =
  | ('blue' | 'cyan' | 'green' | 'magenta' | 'red' | 'yellow')
  | ('bold' | 'dim' | 'inverse' | 'italic' | 'strikethrough' | 'underline')
  | ('bgBlack' | 'whiteBright');

/** Text in a style. */
export type Paint = (style: Style, text: string) => string;

/** Leaves text as it is: for pipes, files and `NO_COLOR`. */
export const plain: Paint = (_, text) => text;

/** With the escape sequences of ANSI terminals. */
export const coloured: Paint = (style, text) => styleText(style, text, { validateStream: false });
