/** Streams an answer to a client that knows only text and cannot resume: the stream ends with its run or its reader. */

import type { Words } from '../../shared/shown/markdown.ts';
import type { StreamEvent } from '../../shared/wire/events.ts';
import type { Env } from '../env.ts';
import type { Attached } from '../follow/attach.ts';
import type { Begun } from '../follow/cancel-run.ts';
import { type DeliveryHandler, deliver } from '../follow/deliver.ts';
import { refusalOf } from '../follow/fold-answer.ts';
import type { SseWriter } from '../follow/sse-writer.ts';
import { FollowedAnswer } from './answer-reader.ts';
import { type Ending, LOST } from './ending.ts';

/** Writes the answer in the form of one API. No method may throw. */
export interface Wire {
  write(words: Words, answer: FollowedAnswer): void;
  /** Shows that the connection is alive. */
  beat(): void;
  end(ending: Ending, answer: FollowedAnswer): void;
}

export class WordStream implements DeliveryHandler {
  readonly framing = 'json';
  /** Aborted when the reader is gone, and at the end of the stream. */
  readonly life = new AbortController();
  readonly #writer: SseWriter;
  readonly #wire: Wire;
  readonly #answer: FollowedAnswer;
  #isEnded = false;

  /** `wire` writes to the writer. `after` as in {@link FollowedAnswer}. */
  constructor(writer: SseWriter, wire: Wire, after = 0) {
    this.#writer = writer;
    this.#wire = wire;
    this.#answer = new FollowedAnswer(after);
  }

  /** Follows from the beginning each time: {@link FollowedAnswer} skips the text that it has returned before. */
  cursor(): number {
    return 0;
  }

  take(text: string): void {
    if (this.#isEnded) return;
    const { ending, ...words } = this.#answer.read(JSON.parse(text) as StreamEvent[]);
    this.#wire.write(words, this.#answer);
    if (ending) this.end(ending);
  }

  beat(): void {
    if (!this.#isEnded) this.#wire.beat();
  }

  /** Ends the stream, once. */
  end(ending: Ending): void {
    if (this.#isEnded) return;
    this.#isEnded = true;
    this.#wire.end(ending, this.#answer);
    this.life.abort();
  }

  /** Follows the run to its end, and ends stream and socket. Calls `giveUp` if the stream ends before. May reject. */
  async follow(
    env: Env,
    begun: Begun,
    attaching: Attached | Promise<Attached>,
    { signal, giveUp }: { readonly signal: AbortSignal; readonly giveUp: () => Promise<void> },
  ): Promise<void> {
    const leave = () => this.life.abort();
    signal.addEventListener('abort', leave);
    if (signal.aborted) leave();
    try {
      const first = await attaching;
      if (first.type === 'response') throw await refusalOf(first.response);
      await deliver(env, begun, first, this, this.#writer, this.life);
    } finally {
      const isLeft = this.life.signal.aborted && !this.#isEnded;
      const { isDone, clientCalls } = this.#answer;
      if (!isDone && clientCalls.length === 0) await giveUp();
      this.end(LOST);
      await this.#writer.end(isLeft ? this.life.signal : signal);
    }
  }
}
