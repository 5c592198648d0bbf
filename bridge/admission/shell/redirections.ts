/** Reads what a command line does with files and descriptors. */
import { type Reading, readWord } from './words.ts';

/** A here-document whose body follows the end of its line. */
export interface HereDocument {
  readonly delimiter: string;
  /** Whether nothing in its body is substituted. */
  readonly isQuoted: boolean;
  readonly stripsTabs: boolean;
}

export interface Redirection {
  /** Whether both outputs go there: a shell that is not Bash takes such a line for two commands. */
  readonly isOfBoth: boolean;
  readonly hereDocument?: HereDocument;
  /** What a here-string gives to the command. */
  readonly input?: string;
}

export function isRedirection({ cursor }: Reading): boolean {
  return cursor.match(START) !== undefined;
}

const START = /(?:\d+|\{[A-Za-z_]\w*(?:\[[^\s\]]*\])?\})?[<>](?!\()|&>/y;

/** Sets nothing, and writes nowhere: between descriptors, or to where all is lost. */
const PLAIN = /^(?:\d?>&\d|[\d&]?>>? ?\/dev\/null)$/;

const OPERATORS: ReadonlySet<string> = new Set('< << <<- <<< <& <> > >> >& >| &> &>>'.split(' '));

export function readRedirection(reading: Reading): Redirection {
  const { cursor } = reading;
  const start = cursor.at;
  const prefix = cursor.match(/\d+|\{[^}]*\}/y) ?? '';
  cursor.jump(start + prefix.length);
  const operator = readOperator(reading, OPERATORS);
  cursor.skipBlanks();
  const target = readWord(reading);
  if (!PLAIN.test(cursor.since(start))) cursor.isPlain = false;
  // Bash expands this word, takes its quotes away, and expands it once more.
  if (operator.endsWith('&')) reading.readText(target.text);
  const isOfBoth = operator.startsWith('&');
  if (operator === '<<<') return { isOfBoth, input: target.text };
  if (operator !== '<<' && operator !== '<<-') return { isOfBoth };
  const hereDocument = {
    delimiter: target.text,
    isQuoted: /['"\\]/.test(target.source),
    stripsTabs: operator === '<<-',
  };
  return { isOfBoth, hereDocument };
}

/** The longest of the operators that begins with the character here. */
export function readOperator({ cursor }: Reading, operators: ReadonlySet<string>): string {
  let operator = cursor.char;
  cursor.step();
  while (operators.has(operator + cursor.char) && cursor.char !== '') {
    operator += cursor.char;
    cursor.step();
  }
  return operator;
}

/** The body, up to the line that holds only the delimiter, or to the end for none. */
export function readHereDocument({ cursor }: Reading, document: HereDocument): string {
  const lines: string[] = [];
  while (cursor.at < cursor.line.length) {
    const end = cursor.line.indexOf('\n', cursor.at);
    const stop = end === -1 ? cursor.line.length : end;
    const written = cursor.line.slice(cursor.at, stop);
    const line = document.stripsTabs ? written.replace(/^\t+/, '') : written;
    cursor.jump(stop + 1);
    if (line === document.delimiter) break;
    lines.push(line);
  }
  return lines.join('\n');
}
