/** Reads a program's output no faster than the bridge can handle. A program that prints without end has to wait. */
import type { Readable } from 'node:stream';
import type { SecretFilter } from '../../../machine/secrets/filter.ts';
import { TERMINAL_LIMITS } from './limits.ts';

/** For all outputs of one command together. */
export class PacedReading {
  readonly #streams: readonly Readable[];
  readonly #rests: (() => void)[] = [];
  #taken = 0;
  #pause: NodeJS.Timeout | undefined;
  #isOver = false;

  /** With `newFilter`, what each stream prints goes through a filter of its own. */
  constructor(
    streams: readonly Readable[],
    onText: (text: string) => void,
    newFilter?: () => SecretFilter,
  ) {
    this.#streams = streams;
    const pass = (text: string) => {
      if (text !== '') onText(text);
    };
    for (const stream of streams) {
      const filter = newFilter?.();
      // The decoder holds back a character whose bytes come in two pieces.
      stream.setEncoding('utf8').on('data', (text: string) => {
        pass(filter === undefined ? text : filter.push(text));
        this.#take(text.length);
      });
      if (filter) this.#rests.push(() => pass(filter.end()));
    }
  }

  /** Passes on what the filters hold back. Nothing more is read. */
  finish(): void {
    for (const pass of this.#rests.splice(0)) pass();
  }

  /** Reads the little that is left in the pipes without pauses. */
  end(): void {
    this.#isOver = true;
    this.#resume();
  }

  #take(chars: number): void {
    this.#taken += chars;
    if (this.#isOver || this.#taken < TERMINAL_LIMITS.maxOutputCharsPerPause) return;
    for (const stream of this.#streams) stream.pause();
    this.#pause ??= setTimeout(() => this.#resume(), TERMINAL_LIMITS.outputPauseMs);
  }

  #resume(): void {
    clearTimeout(this.#pause);
    this.#pause = undefined;
    this.#taken = 0;
    for (const stream of this.#streams) stream.resume();
  }
}
