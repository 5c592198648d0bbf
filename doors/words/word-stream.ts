/** Streams an answer to a client that knows only text. */

import type { Words } from '../../shared/shown/markdown.ts';
import type { StreamEvent } from '../../shared/wire/events.ts';
import { AnswerStream, type SseWriter } from '../../worker/door.ts';
import { FollowedAnswer } from './answer-reader.ts';
import { type Ending, LOST } from './ending.ts';

/** Writes the answer in the form of one API. No method may throw. */
export interface Wire {
  write(words: Words, answer: FollowedAnswer): void;
  /** Shows that the connection is alive. */
  beat(): void;
  end(ending: Ending, answer: FollowedAnswer): void;
}

export class WordStream extends AnswerStream {
  readonly #wire: Wire;
  readonly #answer: FollowedAnswer;

  /** `wire` writes to the writer. `after` as in {@link FollowedAnswer}. */
  constructor(writer: SseWriter, wire: Wire, after = 0) {
    super(writer);
    this.#wire = wire;
    this.#answer = new FollowedAnswer(after);
  }

  end(ending: Ending): void {
    this.endWith(() => this.#wire.end(ending, this.#answer));
  }

  protected get isOver(): boolean {
    return this.#answer.isOver;
  }

  protected read(events: readonly StreamEvent[]): void {
    const { ending, ...words } = this.#answer.read(events);
    this.#wire.write(words, this.#answer);
    if (ending) this.end(ending);
  }

  protected writeBeat(): void {
    this.#wire.beat();
  }

  protected cut(): void {
    this.end(LOST);
  }
}
