/** Text from outside, made harmless for a terminal: a model, a file or a command must not steer what a person sees. */

/**
 * Without colour sequences, and with every other control character shown as its picture. A stream may be cut anywhere:
 * a colour or a CRLF that is cut in two looks odd, but does nothing.
 */
export function printable(text: string): string {
  return text
    .replaceAll(COLOURS, '')
    .replaceAll(/\r\n?/g, '\n')
    .replaceAll(CONTROLS, (character) => pictureOf(character.charCodeAt(0)));
}

/** The same on one line and no longer than `maxChars`. */
export function printableLine(text: string, maxChars: number): string {
  const line = printable(text).replaceAll(/\s+/g, ' ').trim();
  return line.length <= maxChars ? line : `${line.slice(0, maxChars - 1).toWellFormed()}…`;
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for.
const COLOURS = /\u001b\[[0-9;:]*m/g;

/** C0 without tab and line feed, DEL, C1, and the marks that turn the direction of writing around. */
export const CONTROLS =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for.
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g;

/** Unicode's block of control pictures has one for each of C0. */
const PICTURES = 0x2400;
const C0_END = 0x20;
const REPLACEMENT = '\ufffd';

function pictureOf(code: number): string {
  return code < C0_END ? String.fromCharCode(PICTURES + code) : REPLACEMENT;
}
