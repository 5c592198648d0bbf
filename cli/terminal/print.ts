/** Where the text of commands reaches a stream. What of it came from a server controls no terminal. */
import { styleText } from 'node:util';
import { printable } from '../../shared/text/plain-sight.ts';
import { asTyped } from './own-command.ts';
import { STYLES } from './paint.ts';

/** Writes to stdout. */
export function printOut(text: string): void {
  process.stdout.write(printable(text));
}

/** Writes a notice to stderr, with its commands as the person can type them. */
export function printErr(text: string): void {
  process.stderr.write(printable(asTyped(text)));
}

/** {@link printable}, with the sequences that `paint` writes. Any other could hide what follows it. */
export function printableInColour(text: string): string {
  return text
    .split(OWN)
    .map((part, index) => (index % 2 === 1 ? part : printable(part)))
    .join('');
}

const OWN = new RegExp(
  `(${STYLES.flatMap((style) => styleText(style, ' ', { validateStream: false }).split(' '))
    .map((sequence) => sequence.replace('[', '\\['))
    .join('|')})`,
);
