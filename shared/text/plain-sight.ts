/** Makes text from outside harmless for printing: it must not control what a person sees. */

/** For text that streams to a terminal: no colours, other control characters as symbols. It may be cut anywhere. */
export function printable(text: string): string {
  return text
    .replaceAll(COLOURS, '')
    .replaceAll(/\r\n?/g, '\n')
    .replaceAll(CONTROLS, (character) => pictureOf(character.charCodeAt(0)));
}

/** {@link printable} on one line, cut to `maxChars` UTF-16 units. */
export function printableLine(text: string, maxChars: number): string {
  return shorten(printable(text).replaceAll(/\s+/g, ' ').trim(), maxChars);
}

/** Cuts a text to `maxChars` UTF-16 units; a cut text ends with an ellipsis. */
export function shorten(text: string, maxChars: number): string {
  return text.length <= maxChars ? text : `${text.slice(0, maxChars - 1).toWellFormed()}…`;
}

/**
 * For text that a person decides about: two different texts never look the same. Every character that a terminal does
 * not show as itself becomes `\\u{…}`, except a line feed. A backslash before an escape, or before text that looks like
 * an escape, is doubled: a person can distinguish an escape from written text.
 */
export function inPlainSight(text: string): string {
  return text.replace(AMBIGUOUS_BACKSLASHES, '$&$&').replace(HIDDEN, escapeOf);
}

/** {@link inPlainSight} with line feeds escaped too, for messages that may quote names and URLs. Apply it only once. */
export function inOneLine(text: string): string {
  return text.replace(AMBIGUOUS_IN_LINE, '$&$&').replace(HIDDEN_IN_LINE, escapeOf);
}

/** A file's name within a line: as a JSON string if it would break the line or hide something. Never ambiguous. */
export function nameInLine(name: string): string {
  if (!name.startsWith('"') && name.search(HIDDEN_IN_NAME) < 0) return name;
  return JSON.stringify(name).replace(HIDDEN_IN_QUOTES, jsonEscapeOf);
}

/** Writes JSON escapes for the control characters that JSON allows as they are. Line ends of formatted JSON stay. */
export function escapeControls(json: string): string {
  return json.replaceAll(CONTROLS, jsonEscapeOf);
}

const HEX = 16;
const ESCAPE_DIGITS = 4;

function escapeOf(character: string): string {
  return `\\u{${character.codePointAt(0)?.toString(HEX)}}`;
}

/** One escape for each half of a surrogate pair, as in JSON. */
function jsonEscapeOf(character: string): string {
  return character
    .split('')
    .map((unit) => `\\u${unit.charCodeAt(0).toString(HEX).padStart(ESCAPE_DIGITS, '0')}`)
    .join('');
}

/**
 * A combining mark, unless it belongs to a letter: anywhere else it draws over what stands before it. Of many marks
 * on one letter only the first ones stay: the others would reach into the lines around, and no language needs them.
 */
const LONE_MARK = '(?<!\\p{L}(?:(?!\\p{DI})\\p{M}){0,7})\\p{M}';
/** Control and format characters, blanks other than the space, surrogates, and characters that no font shows. */
const INVISIBLE = '[\\p{Cc}\\p{Cf}\\p{Cs}\\p{Co}\\p{Cn}\\p{Zl}\\p{Zp}\\p{DI}\\u2800]|(?! )\\p{Zs}';
const HIDDEN_CLASS = `${INVISIBLE}|${LONE_MARK}`;
const HIDDEN_IN_LINE = new RegExp(HIDDEN_CLASS, 'gu');
const HIDDEN = new RegExp(`(?!\\n)(?:${HIDDEN_CLASS})`, 'gu');
/** A joiner stays in a name between two characters of these: words of some languages and many emoji contain it. */
const JOINED = '[^\\p{sc=Latin}\\p{N}\\p{P}\\p{Z}\\p{C}\\p{DI}]';
const JOINER = `(?<=${JOINED})[\\u200c\\u200d](?=${JOINED})`;
const HIDDEN_IN_NAME = new RegExp(`(?!${JOINER})(?:${HIDDEN_CLASS})`, 'gu');
/** In quotes the letter before a mark can be the end of an escape. */
const HIDDEN_IN_QUOTES = new RegExp(`(?!${JOINER})(?:${INVISIBLE}|\\p{M})`, 'gu');
/** Whole runs: to look again from each backslash of a run would take the square of its length. */
const BACKSLASHES = '(?<!\\\\)\\\\+';
const AMBIGUOUS_BACKSLASHES = new RegExp(`${BACKSLASHES}(?=u\\{|(?!\\n)(?:${HIDDEN_CLASS}))`, 'gu');
const AMBIGUOUS_IN_LINE = new RegExp(`${BACKSLASHES}(?=u\\{|${HIDDEN_CLASS})`, 'gu');

// biome-ignore lint/suspicious/noControlCharactersInRegex: the pattern looks for them.
const COLOURS = /\u001b\[[0-9;:]*m/g;

/** C0 without tab and line feed, DEL, C1, line separators, and the marks that change the direction of writing. */
const CONTROLS =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the pattern looks for them.
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g;

/** The start of Unicode's control pictures, one for each character of C0. */
const PICTURES = 0x2400;
const C0_END = 0x20;
const REPLACEMENT = '\ufffd';

function pictureOf(code: number): string {
  return code < C0_END ? String.fromCharCode(PICTURES + code) : REPLACEMENT;
}
