/** Reads a program's output no faster than the bridge can handle. A program that prints without end has to wait. */
import type { Readable } from 'node:stream';
import { TERMINAL_LIMITS } from './limits.ts';

/** For all outputs of one command together. */
export class PacedReading {
  readonly #streams: readonly Readable[];
  #taken = 0;
  #pause: NodeJS.Timeout | undefined;
  #isOver = false;

  constructor(streams: readonly Readable[], onText: (text: string) => void) {
    this.#streams = streams;
    for (const stream of streams) {
      // The decoder holds back a character whose bytes come in two pieces.
      stream.setEncoding('utf8').on('data', (text: string) => {
        onText(text);
        this.#take(text.length);
      });
    }
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
