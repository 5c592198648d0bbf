/** Colours of the terminal, or none. */
import { styleText } from 'node:util';

/** Of the sixteen colours that the terminal's own theme defines: they are readable on a light and on a dark ground. */
export const STYLES = [
  ...(['blue', 'cyan', 'green', 'magenta', 'red', 'yellow'] as const),
  ...(['bold', 'dim', 'inverse', 'italic', 'strikethrough', 'underline'] as const),
  ...(['bgBlack', 'whiteBright'] as const),
] as const;
export type Style = (typeof STYLES)[number];

/** Text in a style. */
export type Paint = (style: Style, text: string) => string;

/** Leaves text as it is: for pipes, files and `NO_COLOR`. */
export const plain: Paint = (_, text) => text;

/** With the escape sequences of ANSI terminals. */
export const coloured: Paint = (style, text) => styleText(style, text, { validateStream: false });
