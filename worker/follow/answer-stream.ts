/** Streams an answer to a client that has no position on the tape: the stream ends with its run or its reader. */
import type { StreamEvent } from '../../shared/wire/events.ts';
import type { Env } from '../env.ts';
import type { Attached } from './attach.ts';
import type { Begun } from './cancel-run.ts';
import { type Delivered, type DeliveryHandler, deliver } from './deliver.ts';
import { refusalOf } from './fold-answer.ts';
import type { SseWriter } from './sse-writer.ts';

/** A class below it writes the form of one API to the writer. None of its methods may throw. */
export abstract class AnswerStream implements DeliveryHandler {
  readonly framing = 'json';
  readonly writer: SseWriter;
  /** Aborted when the reader is gone, and at the end of the stream. */
  readonly life = new AbortController();
  #isEnded = false;

  constructor(writer: SseWriter) {
    this.writer = writer;
  }

  /** Whether the run has nothing more to do for this answer. */
  protected abstract get isOver(): boolean;
  /** Writes what is new, and the end. After a crash, events come again from the beginning. */
  protected abstract read(events: readonly StreamEvent[]): void;
  protected abstract writeBeat(): void;
  /** Writes the end of a stream whose answer has none. */
  protected abstract cut(how: Delivered): void;

  cursor(): number {
    return 0;
  }

  take(text: string): void {
    if (this.#isEnded) return;
    this.read(JSON.parse(text) as StreamEvent[]);
    if (this.writer.isGone) this.life.abort();
  }

  beat(): void {
    if (!this.#isEnded) this.writeBeat();
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
    let how: Delivered = 'lost';
    try {
      const first = await attaching;
      if (first.type === 'response') throw await refusalOf(first.response);
      how = await deliver(env, begun, first, this, this.writer, this.life);
    } finally {
      if (!this.isOver) await giveUp();
      this.cut(how);
      await this.writer.end(how === 'stalled' ? this.life.signal : signal);
    }
  }

  /** Writes the end, once. Nothing is written behind it. */
  protected endWith(write: () => void): void {
    if (this.#isEnded) return;
    this.#isEnded = true;
    write();
    this.life.abort();
  }
}
