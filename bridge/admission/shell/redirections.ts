/** Reads the redirections of a command line: its files, descriptors and here-documents. */
import { readWord, type WordReading } from './words.ts';

/** A here-document. Its body follows the end of the line. */
export interface HereDocument {
  readonly delimiter: string;
  /** Whether the shell takes the body literally. */
  readonly isQuoted: boolean;
  readonly stripsTabs: boolean;
}

interface Redirection {
  /** Whether both outputs go there. A shell other than Bash reads such a line as two commands. */
  readonly isOfBoth: boolean;
  readonly hereDocument?: HereDocument;
  /** The text that a here-string gives to the command. */
  readonly input?: string;
}

export function isRedirection({ cursor }: WordReading): boolean {
  return cursor.match(START) !== undefined;
}

const START = /(?:\d+|\{[A-Za-z_]\w*(?:\[[^\s\]]*\])?\})?[<>](?!\()|&>/y;

/** Redirections that write to no file: between descriptors, or to `/dev/null`. */
const PLAIN = /^(?:\d?>&\d|[\d&]?>>? ?\/dev\/null)$/;

const OPERATORS: ReadonlySet<string> = new Set('< << <<- <<< <& <> > >> >& >| &> &>>'.split(' '));

export function readRedirection(reading: WordReading): Redirection {
  const { cursor } = reading;
  const start = cursor.at;
  const prefix = cursor.match(/\d+|\{[^}]*\}/y) ?? '';
  cursor.jump(start + prefix.length);
  const operator = readOperator(reading, OPERATORS);
  cursor.skipBlanks();
  const target = readWord(reading);
  if (!PLAIN.test(cursor.since(start))) cursor.isPlain = false;
  // Bash expands this word, removes its quotes, and expands it again.
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

/** The longest operator that begins with the character here. */
export function readOperator({ cursor }: WordReading, operators: ReadonlySet<string>): string {
  let operator = cursor.char;
  cursor.step();
  while (operators.has(operator + cursor.char) && cursor.char !== '') {
    operator += cursor.char;
    cursor.step();
  }
  return operator;
}

/** The body up to the line with only the delimiter, or to the end of the text without that line. */
export function readHereDocument({ cursor }: WordReading, document: HereDocument): string {
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
