/** The person's side of a command: what is written, what is asked, and the signals that end it. */
import type { Readable, Writable } from 'node:stream';
import { Keyboard } from '../../machine/keyboard.ts';
import { escapeControls } from '../../shared/plain-sight.ts';
import { onUnread } from './ending.ts';
import { coloured, type Paint, plain } from './paint.ts';

export interface Terminal {
  /** Whether someone is there to answer questions. */
  readonly isInteractive: boolean;
  /** Whether the answer goes to a program or a file, and not to where everything else is written. */
  readonly isPiped: boolean;
  readonly paint: Paint;
  /** The width of the terminal that the answer is shown on; undefined in a pipe. */
  readonly columns: number | undefined;
  /** Says something to the person. While a question is open this waits for its answer, so that the two do not mix. */
  write(text: string): void;
  /** Says something at once: above a question that is open. */
  notify(text: string): void;
  /** Writes to stdout what the command is for. Without a pipe it is the same as `write`. */
  writeOut(text: string): void;
  /**
   * The answer, typed after the question was shown; or undefined when the person ended the input or the signal withdrew
   * the question.
   */
  ask(question: string, signal?: AbortSignal): Promise<string | undefined>;
  /** The person's next message, which may be typed already while somebody listens; undefined at the input's end. */
  readMessage(prompt: string): Promise<string | undefined>;
  /** Keeps what is typed for the next message from now on, until it is disposed of. */
  listen(): Disposable;
  /** The input, for input that is not a terminal. */
  readonly piped: Readable | null;
  /**
   * Calls the listener at each of the signals until the returned function is called. Without a listener Ctrl-C ends a
   * question, and the system's own meaning holds.
   */
  onSignal(listener: (signal: EndSignal) => void): () => void;
}

/** Ctrl-C, a polite kill, or nobody left who reads the output. */
export type EndSignal = 'SIGINT' | 'SIGTERM' | 'unread';

type Stream<Kind> = Kind & {
  readonly isTTY?: boolean;
  readonly columns?: number;
  setRawMode?(isRaw: boolean): unknown;
};

/** For a terminal that does not tell its width. */
const USUAL_COLUMNS = 80;

export interface Streams {
  readonly stdin: Stream<Readable>;
  readonly stdout: Stream<Writable>;
  readonly stderr: Stream<Writable>;
}

/** The terminal of a process. For a `machine` nothing is asked, and stdout is for its own format alone. */
export function openTerminal(
  { stdin, stdout, stderr }: Streams,
  environment: Readonly<Record<string, string | undefined>>,
  { machine = false } = {},
): Terminal {
  const isPiped = machine || stdout.isTTY !== true;
  const person = isPiped ? stderr : stdout;
  const hasColours =
    person.isTTY === true && !environment['NO_COLOR'] && environment['TERM'] !== 'dumb';
  const listeners = new Set<(signal: EndSignal) => void>();
  let held: string[] | null = null;

  const write = (text: string) => {
    if (held) held.push(text);
    else if (text !== '') person.write(text);
  };
  const keyboard = new Keyboard({
    input: stdin,
    output: person,
    onInterrupt: () => {
      for (const listener of [...listeners]) listener('SIGINT');
      if (listeners.size > 0) return true;
      if (held) keyboard.closeQuestion();
      return held !== null;
    },
  });
  /** While the person is asked something nothing else is written. */
  const holdingBack = async (asked: Promise<string | undefined>) => {
    held = [];
    try {
      return await asked;
    } finally {
      person.write(held.join(''));
      held = null;
    }
  };
  return {
    isInteractive: !machine && stdin.isTTY === true && person.isTTY === true,
    isPiped,
    paint: hasColours ? coloured : plain,
    columns: isPiped ? undefined : stdout.columns || USUAL_COLUMNS,
    write,
    notify: (text) => keyboard.writeAbove(text),
    writeOut: (text) => {
      if (!isPiped) write(text);
      else if (text !== '') stdout.write(text);
    },
    ask: (question, signal) => holdingBack(keyboard.ask(question, signal)),
    readMessage: (prompt) => holdingBack(keyboard.readMessage(prompt)),
    listen: () => keyboard.listen(),
    piped: stdin.isTTY ? null : stdin,
    onSignal(listener) {
      listeners.add(listener);
      process.on('SIGINT', listener).on('SIGTERM', listener);
      const endUnread = onUnread(() => listener('unread'));
      return () => {
        listeners.delete(listener);
        process.off('SIGINT', listener).off('SIGTERM', listener);
        endUnread();
      };
    },
  };
}

/** One value on one line, for programs. What could steer a terminal is written as an escape, which means the same to a parser. */
export function jsonLine(value: unknown): string {
  return `${escapeControls(JSON.stringify(value))}\n`;
}
