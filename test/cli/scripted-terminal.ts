/** The far end of a chat: a person whose answers are known beforehand. */
import { plain } from '../../cli/paint.ts';
import type { Terminal } from '../../cli/terminal.ts';

export interface ScriptedTerminal extends Terminal {
  readonly screen: () => string;
  readonly questions: string[];
  /** Presses Ctrl-C. */
  interrupt(): void;
}

/** The answers in order; `undefined` ends the input. Questions past the last answer stay open until withdrawn. */
export function scriptTerminal({
  answers = [],
  piped,
}: {
  answers?: readonly (string | undefined)[];
  piped?: string;
} = {}): ScriptedTerminal {
  let screen = '';
  const listeners = new Set<() => void>();
  const questions: string[] = [];
  return {
    questions,
    isInteractive: piped === undefined,
    paint: plain,
    screen: () => screen,
    write: (text) => {
      screen += text;
    },
    ask(question, signal) {
      questions.push(question);
      if (questions.length <= answers.length) return Promise.resolve(answers[questions.length - 1]);
      return new Promise((resolve) => {
        signal?.addEventListener('abort', () => resolve(undefined), { once: true });
      });
    },
    readAll: async () => piped ?? '',
    onInterrupt(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    interrupt: () => {
      for (const listener of listeners) listener();
    },
  };
}
