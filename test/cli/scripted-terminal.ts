/** The far end of a chat: a person whose answers are known beforehand. */
import { Readable } from 'node:stream';
import { plain } from '../../cli/terminal/paint.ts';
import type { EndSignal, Terminal } from '../../cli/terminal/terminal.ts';

export interface ScriptedTerminal extends Terminal {
  readonly screen: () => string;
  readonly questions: string[];
  /** What went to the pipe. */
  readonly out: () => string;
  /** As the system sends it; Ctrl-C where nothing else is named. */
  interrupt(signal?: EndSignal): void;
}

/**
 * The answers in order; `undefined` ends the input. Questions past the last answer stay open until withdrawn. With
 * `piped` there is no person, and the output is a pipe too.
 */
export function scriptTerminal({
  answers = [],
  piped,
}: {
  answers?: readonly (string | undefined)[];
  piped?: string;
} = {}): ScriptedTerminal {
  let screen = '';
  let out = '';
  const listeners = new Set<(signal: EndSignal) => void>();
  const questions: string[] = [];
  const ask = (question: string, signal?: AbortSignal): Promise<string | undefined> => {
    questions.push(question);
    if (questions.length <= answers.length) return Promise.resolve(answers[questions.length - 1]);
    return new Promise((resolve) => {
      signal?.addEventListener('abort', () => resolve(undefined), { once: true });
    });
  };
  return {
    questions,
    isInteractive: piped === undefined,
    isPiped: piped !== undefined,
    paint: plain,
    columns: undefined,
    screen: () => screen,
    out: () => out,
    write: (text) => {
      screen += text;
    },
    notify: (text) => {
      screen += text;
    },
    writeOut: (text) => {
      if (piped === undefined) screen += text;
      else out += text;
    },
    ask,
    readMessage: ask,
    listen: () => ({ [Symbol.dispose]: () => {} }),
    takeTyped: () => Promise.resolve({ messages: [], begun: '', hasEnded: false }),
    lend: () => ({ [Symbol.dispose]: () => {} }),
    piped: piped === undefined ? null : Readable.from([Buffer.from(piped)], { objectMode: false }),
    onSignal(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    interrupt: (signal = 'SIGINT') => {
      for (const listener of listeners) listener(signal);
    },
  };
}
