/** Reads one word of a command line as Bash does: quotes, escapes and substitutions. */

import type { Cursor } from './cursor.ts';
import { RULE_LIMITS } from './limits.ts';

export interface Word {
  /** The word without its quotes. An expansion that only a shell can work out stays as written. */
  readonly text: string;
  /** The word without its quotes and without such expansions. It may be empty. */
  readonly certain: string;
  /** The word as written. A quoted word is neither a keyword nor an assignment. */
  readonly source: string;
}

/** The part of a command reader that words need: words hold commands, which hold words. */
export interface WordReading {
  readonly cursor: Cursor;
  /** Reads the commands of a substitution, and the parenthesis after them. */
  readonly readSubstitution: () => void;
  /** Reads commands in backticks. */
  readonly readBackticked: (line: string) => void;
  /** Reads text that is no command but may hold commands, for example arithmetic. */
  readonly readText: (text: string) => void;
  /** Reads a nested part. Throws when the nesting is too deep. */
  readonly readWithin: (read: () => void) => void;
  /** Says that the line ends too early: a shell would wait for more. */
  readonly reportCutOff: () => void;
}

/** `mayAssign` is true before a command's name, where `a[1 + 2]=3` is one word. */
export function readWord(reading: WordReading, mayAssign = false): Word {
  const { cursor } = reading;
  const start = cursor.at;
  let text = '';
  while (!endsWord(cursor)) {
    if (mayAssign && cursor.char === '[' && /^[A-Za-z_]\w*$/.test(cursor.since(start))) {
      text += readSubscript(reading);
    } else text += readPart(reading);
  }
  return {
    text: text.replaceAll(MARK, ''),
    certain: text.replace(MARKED, ''),
    source: cursor.since(start),
  };
}

/** Stands around an expansion that only a shell can work out. No runnable line contains it. */
const MARK = '\0';
const MARKED = /\0[^\0]*\0/g;

/** The text from `start` to here, with marks around it. */
function marked(cursor: Cursor, start: number): string {
  return MARK + cursor.since(start).replaceAll(MARK, '') + MARK;
}

function endsWord({ char, next }: Cursor): boolean {
  if (char === '<' || char === '>') return next !== '(';
  return char === '' || ' \t\n;&|()'.includes(char);
}

function readPart(reading: WordReading): string {
  const { cursor } = reading;
  switch (cursor.char) {
    case '\\':
      return readEscape(reading);
    case "'":
      return readSingleQuoted(reading);
    case '"':
      return readDoubleQuoted(reading);
    case '`':
      return readBackticks(reading);
    case '$':
      return readDollar(reading);
    case '<':
    case '>':
      return readProcess(reading);
    default:
      return readOrdinary(cursor);
  }
}

/** Some systems' shells take bytes of other letters for blanks, and some control characters for their own marks. */
function readOrdinary(cursor: Cursor): string {
  const { char } = cursor;
  if (!/[!-~]/.test(char)) cursor.isPlain = false;
  cursor.step();
  return char;
}

function readEscape(reading: WordReading): string {
  const { cursor } = reading;
  const char = cursor.line.charAt(cursor.at + 1);
  if (!/[ -~\t]/.test(char)) cursor.isPlain = false;
  if (char === '') reading.reportCutOff();
  cursor.jump(cursor.at + 2);
  return char;
}

function readSingleQuoted(reading: WordReading): string {
  const { cursor } = reading;
  const start = cursor.at + 1;
  const end = cursor.line.indexOf("'", start);
  if (end === -1) reading.reportCutOff();
  const stop = end === -1 ? cursor.line.length : end;
  cursor.jump(stop + 1);
  return cursor.line.slice(start, stop);
}

function readDoubleQuoted(reading: WordReading): string {
  const { cursor } = reading;
  cursor.step();
  let text = '';
  while (cursor.char !== '"') {
    if (cursor.char === '') {
      reading.reportCutOff();
      return text;
    }
    text += readInDoubleQuotes(reading);
  }
  cursor.step();
  return text;
}

function readInDoubleQuotes(reading: WordReading): string {
  const { cursor } = reading;
  const { char, at } = cursor;
  if (char === '`') return readBackticks(reading, true);
  if (char === '$') return readDollar(reading, true);
  if (char !== '\\') {
    cursor.step();
    return char;
  }
  // In some East Asian locales a backslash is the second byte of a letter.
  if (cursor.line.charAt(at - 1) > '~') cursor.isPlain = false;
  const escaped = cursor.line.charAt(at + 1);
  cursor.jump(at + 2);
  return '$`"\\'.includes(escaped) ? escaped : char + escaped;
}

function readBackticks(reading: WordReading, isInDoubleQuotes = false): string {
  const { cursor } = reading;
  const start = cursor.at;
  cursor.isPlain = false;
  let end = start + 1;
  while (end < cursor.line.length && cursor.line[end] !== '`') {
    end += cursor.line[end] === '\\' ? 2 : 1;
  }
  if (end >= cursor.line.length) reading.reportCutOff();
  const escaped = isInDoubleQuotes ? /\\([`$\\"])/g : /\\([`$\\])/g;
  reading.readBackticked(cursor.line.slice(start + 1, end).replace(escaped, '$1'));
  cursor.jump(end + 1);
  return marked(cursor, start);
}

function readProcess(reading: WordReading): string {
  const { cursor } = reading;
  const start = cursor.at;
  cursor.isPlain = false;
  cursor.step();
  cursor.step();
  reading.readSubstitution();
  return marked(cursor, start);
}

/** `$name` and `${name}` run nothing. Any other expansion may. */
function readDollar(reading: WordReading, isInDoubleQuotes = false): string {
  const { cursor } = reading;
  const start = cursor.at;
  const name = cursor.match(/\$(?:\{\w+\}|[A-Za-z_]\w*|[\d@*#?!-])/y);
  if (name !== undefined) {
    cursor.jump(start + name.length);
    return marked(cursor, start);
  }
  cursor.step();
  const opener = cursor.char;
  const isQuote = !isInDoubleQuotes && (opener === "'" || opener === '"');
  if (!isQuote && !'({['.includes(opener || ' ')) return '$';
  cursor.isPlain = false;
  if (opener === '"') return readDoubleQuoted(reading);
  if (opener === "'") return readAnsiQuoted(reading);
  if (opener === '(' && skipArithmetic(reading)) return marked(cursor, start);
  cursor.step();
  if (opener === '(') reading.readSubstitution();
  else readUntil(reading, opener === '{' ? '}' : ']', isInDoubleQuotes);
  return marked(cursor, start);
}

/** Skips `((...))`. Returns false for a substitution that only begins like one. */
export function skipArithmetic(reading: WordReading): boolean {
  const { cursor } = reading;
  const { line, at: start } = cursor;
  const last = Math.min(line.length, start + RULE_LIMITS.maxArithmeticChars);
  if (!line.startsWith('((', start) || !line.slice(start, last).includes('))')) return false;
  let open = 0;
  for (let at = start; at < last; at++) {
    if (line[at] === '(') open++;
    if (line[at] === ')') open--;
    if (open > 0) continue;
    if (line[at - 1] !== ')') return false;
    reading.readText(line.slice(start + 2, at - 1));
    cursor.jump(at + 1);
    return true;
  }
  return false;
}

/** Reads from after an opening bracket to after its closing one, or to the end. */
export function readUntil(reading: WordReading, closer: string, isInDoubleQuotes: boolean): void {
  const { cursor } = reading;
  let open = 1;
  while (cursor.char !== '') {
    const { char } = cursor;
    if (char === closer && --open === 0) return cursor.step();
    // Between braces, an inner opening brace needs no closing one.
    if (char === '[' && closer === ']') open++;
    if (char === '\\') cursor.jump(cursor.at + 2);
    else if ('"`$'.includes(char) || (char === "'" && !isInDoubleQuotes)) {
      reading.readWithin(() => readPart(reading));
    } else cursor.step();
  }
  if (closer !== '') reading.reportCutOff();
}

function readSubscript(reading: WordReading): string {
  const { cursor } = reading;
  const start = cursor.at;
  cursor.isPlain = false;
  cursor.step();
  readUntil(reading, ']', false);
  return cursor.since(start);
}

/** `$'...'` uses the escapes of C. */
function readAnsiQuoted(reading: WordReading): string {
  const { cursor } = reading;
  const quoted = cursor.match(/'(?:[^'\\]|\\[\s\S])*'/y);
  if (quoted === undefined) {
    reading.reportCutOff();
    cursor.jump(cursor.line.length);
    return '';
  }
  cursor.jump(cursor.at + quoted.length);
  return quoted.slice(1, -1).replace(ANSI_ESCAPE, decodeAnsi);
}

const ANSI_ESCAPE =
  /\\(?:x([\da-fA-F]{1,2})|[uU]([\da-fA-F]{1,8})|([0-7]{1,3})|c([\s\S])|([\s\S]))/g;

function decodeAnsi(_: string, hex = '', code = '', octal = '', control = '', other = ''): string {
  if (hex !== '' || code !== '') return fromCode(Number.parseInt(hex || code, 16));
  if (octal !== '') return fromCode(Number.parseInt(octal, 8) & 0xff);
  if (control !== '') return fromCode(control.charCodeAt(0) & 0x1f);
  return ANSI_LETTERS[other] ?? other;
}

const ANSI_LETTERS: Readonly<Record<string, string>> = {
  a: '\x07',
  b: '\b',
  e: '\x1b',
  E: '\x1b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
  v: '\v',
};

function fromCode(code: number): string {
  return code <= 0x10ffff ? String.fromCodePoint(code) : '';
}
