/** The person's side of a chat: what is written, what is asked, and Ctrl-C. */
import { createInterface } from 'node:readline/promises';
import type { Readable, Writable } from 'node:stream';
import { coloured, type Paint, plain } from './paint.ts';

export interface Terminal {
  /** Whether someone is there to answer questions. */
  readonly isInteractive: boolean;
  readonly paint: Paint;
  /** While a question is open this waits for its answer, so that the two do not mix. */
  write(text: string): void;
  /** The answer, or undefined when the person ended the input or the signal withdrew the question. */
  ask(question: string, signal?: AbortSignal): Promise<string | undefined>;
  /** All of the input, for input that is not a terminal. */
  readAll(): Promise<string>;
  /** Calls the listener at each Ctrl-C until the returned function is called. Without a listener it ends a question. */
  onInterrupt(listener: () => void): () => void;
}

type Stream<Kind> = Kind & { readonly isTTY?: boolean };

/** The terminal of a process. */
export function openTerminal(
  input: Stream<Readable>,
  output: Stream<Writable>,
  environment: Readonly<Record<string, string | undefined>>,
): Terminal {
  const listeners = new Set<() => void>();
  let history: string[] = [];
  let held: string[] | null = null;

  return {
    isInteractive: input.isTTY === true && output.isTTY === true,
    paint: output.isTTY && !environment['NO_COLOR'] ? coloured : plain,
    write(text) {
      if (held) held.push(text);
      else output.write(text);
    },
    async ask(question, signal) {
      // One interface per question: between questions Ctrl-C is the system's own signal again.
      const lines = createInterface({ input, output, history });
      lines.on('history', (entries) => {
        history = entries;
      });
      lines.on('SIGINT', () => {
        if (listeners.size === 0) lines.close();
        for (const listener of [...listeners]) listener();
      });
      held = [];
      try {
        const answer = await answerOf(lines, question, signal);
        // Readline ends the line of a question that is withdrawn, but not at the end of the input.
        if (answer === undefined && !signal?.aborted) output.write('\n');
        return answer;
      } finally {
        lines.close();
        output.write(held.join(''));
        held = null;
      }
    },
    async readAll() {
      return (await input.setEncoding('utf8').toArray()).join('');
    },
    onInterrupt(listener) {
      listeners.add(listener);
      process.on('SIGINT', listener);
      return () => {
        listeners.delete(listener);
        process.off('SIGINT', listener);
      };
    },
  };
}

type Lines = ReturnType<typeof createInterface>;

/**
 * Undefined when the question is withdrawn or the input ends. Lines that are pasted come in one piece and are one
 * answer: none of them may be lost, or be taken for the answer to the next question.
 */
async function answerOf(
  lines: Lines,
  question: string,
  signal: AbortSignal | undefined,
): Promise<string | undefined> {
  const closed = new Promise<undefined>((resolve) => lines.once('close', () => resolve(undefined)));
  const answered = lines.question(question, signal ? { signal } : {}).catch(() => undefined);
  const pasted: string[] = [];
  lines.on('line', (line) => pasted.push(line));
  const answer = await Promise.race([answered, closed]);
  return answer === undefined ? undefined : [answer, ...pasted].join('\n');
}
