/** Writes to the person, asks the person, and passes on the signals that end a command. */

import type { Readable, Writable } from 'node:stream';
import type { Environment } from '../../machine/environment.ts';
import { Keyboard, signalAll, type Typed } from '../../machine/keyboard.ts';
import { escapeControls, printable } from '../../shared/text/plain-sight.ts';
import { onUnread } from './ending.ts';
import { coloured, type Paint, plain } from './paint.ts';
import { pickLine } from './pick.ts';
import { printableInColour } from './print.ts';

export interface Terminal {
  /** Whether a person can answer questions here. */
  readonly isInteractive: boolean;
  /** Whether stdout goes to a program or a file; everything else goes to stderr then. */
  readonly isPiped: boolean;
  readonly paint: Paint;
  /** The width of the terminal that shows the answer; undefined in a pipe. */
  readonly columns: number | undefined;
  /** Writes to the person. Holds the text back while a question is open, so that the two do not mix. */
  write(text: string): void;
  /** Writes to the person at once, above an open question. */
  notify(text: string): void;
  /** Writes the command's result to stdout. Without a pipe it is the same as `write`. */
  writeOut(text: string): void;
  /** The typed answer, unseen for a `hidden` one; undefined if the input ended or the signal withdrew the question. */
  ask(
    question: string,
    signal?: AbortSignal,
    how?: { readonly hidden?: boolean },
  ): Promise<string | undefined>;
  /**
   * The index of the line that the person picks with the arrows; undefined as for `ask`. Absent where lines cannot be
   * drawn anew: `ask` for a number there.
   */
  pick?(labels: readonly string[], signal: AbortSignal): Promise<number | undefined>;
  /** The person's next message; undefined at the input's end. After `listen` the person can type it in advance. */
  readMessage(prompt: string): Promise<string | undefined>;
  /** Keeps what the person types from now on for the next message, until the result is disposed of. */
  listen(): Disposable;
  /** What was typed since `listen` and not read yet: another reader of the terminal goes on with it. */
  takeTyped(): Promise<Typed>;
  /** Leaves what is typed from now on to another program, until the result is disposed of. */
  lend(): Disposable;
  /** The input; null if it is a terminal. */
  readonly piped: Readable | null;
  /** Calls the listener at each signal until the returned function is called. Without one, Ctrl-C ends a question. */
  onSignal(listener: (signal: EndSignal) => void): () => void;
}

/** Ctrl-C, SIGTERM, or the loss of the output's reader. */
export type EndSignal = 'SIGINT' | 'SIGTERM' | 'unread';

type Stream<Kind> = Kind & {
  readonly isTTY?: boolean;
  readonly columns?: number;
  readonly rows?: number;
  setRawMode?(isRaw: boolean): unknown;
};

/** The width assumed for a terminal that does not report it. */
const USUAL_COLUMNS = 80;

export interface Streams {
  readonly stdin: Stream<Readable>;
  readonly stdout: Stream<Writable>;
  readonly stderr: Stream<Writable>;
}

/** The terminal of a process. For a `machine` it asks nothing, and stdout carries only the machine's format. */
export function openTerminal(
  { stdin, stdout, stderr }: Streams,
  environment: Environment,
  { machine = false } = {},
): Terminal {
  const isPiped = machine || stdout.isTTY !== true;
  const person = isPiped ? stderr : stdout;
  const hasColours =
    person.isTTY === true && !environment['NO_COLOR'] && environment['TERM'] !== 'dumb';
  const harmless = hasColours ? printableInColour : printable;
  const listeners = new Set<(signal: EndSignal) => void>();
  let held: string[] | null = null;

  const write = (text: string) => {
    if (held) held.push(harmless(text));
    else if (text !== '') person.write(harmless(text));
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
  /** Holds other text back while a question is open. */
  const holdingBack = async (asked: Promise<string | undefined>) => {
    held = [];
    try {
      return await asked;
    } finally {
      person.write(held.join(''));
      held = null;
    }
  };
  const isInteractive = !machine && stdin.isTTY === true && person.isTTY === true;
  const { TERM, DRAWBRIDGE_PLAIN } = environment;
  const draws = isInteractive && TERM !== 'dumb' && !DRAWBRIDGE_PLAIN;
  const interrupt = () => {
    for (const listener of [...listeners]) listener('SIGINT');
    if (listeners.size === 0) signalAll('SIGINT');
  };
  return {
    isInteractive,
    isPiped,
    paint: hasColours ? coloured : plain,
    columns: isPiped ? undefined : stdout.columns || USUAL_COLUMNS,
    write,
    notify: (text) => keyboard.writeAbove(harmless(text)),
    writeOut: (text) => {
      if (!isPiped) write(text);
      else if (text !== '') stdout.write(printable(text));
    },
    ask: (question, signal, how) => holdingBack(keyboard.ask(harmless(question), signal, how)),
    ...(draws && {
      pick: async (labels: readonly string[], signal: AbortSignal) => {
        using _ = keyboard.lend();
        const columns = person.columns || USUAL_COLUMNS;
        const paint = hasColours ? coloured : plain;
        const around = {
          input: stdin,
          output: person,
          paint,
          columns,
          rows: person.rows || undefined,
          onInterrupt: interrupt,
        };
        return await pickLine(labels.map(harmless), around, signal);
      },
    }),
    readMessage: (prompt) => holdingBack(keyboard.readMessage(harmless(prompt))),
    listen: () => keyboard.listen(),
    takeTyped: () => keyboard.takeTyped(),
    lend: () => keyboard.lend(),
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

/** One value as a line of JSON. Control characters become JSON escapes: a parser reads the same value. */
export function jsonLine(value: unknown): string {
  return `${escapeControls(JSON.stringify(value))}\n`;
}
