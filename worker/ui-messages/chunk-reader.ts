/** Reads a follower's events, which may start from the beginning several times, and returns each chunk once. */
import type { StreamEvent } from '../../shared/wire/events.ts';
import type { Begun } from '../follow/cancel-run.ts';
import { Chunks, type UiChunk } from './chunks.ts';

/** Numbers chunks from 0, the same at each reading. A `reset-step` stands where a crash took some back. */
export class ChunkReader {
  readonly #begun: Begun;
  #chunks: Chunks;
  /** The number of the next chunk of `#chunks`. */
  #next = 0;
  /** The number of the next chunk that the reader lacks. */
  #wanted: number;
  /** The numbers of the `reset-step` chunks that the reader has. */
  #resets: number[] = [];
  /** Whether the response is over. */
  isDone = false;

  /** The reader has the chunks up to the number `after`; -1 for none. */
  constructor(begun: Begun, after: number) {
    this.#begun = begun;
    this.#chunks = this.#anew();
    this.#wanted = after + 1;
  }

  read(events: readonly StreamEvent[]): UiChunk[] {
    return events.flatMap((event) => {
      // Snapshots and heartbeats are for readers with a cursor.
      if (event.type === 'snapshot' || event.type === 'heartbeat') return [];
      if (event.type === 'response_start' && this.#chunks.hasBegun) {
        this.#chunks = this.#anew();
        this.#next = 0;
      }
      this.#chunks.see(event);
      this.isDone ||= event.type === 'done';
      return this.#chunks.take().filter((chunk) => this.#isNew(chunk, this.#next++));
    });
  }

  #anew(): Chunks {
    const { caller, responseId } = this.#begun;
    return new Chunks(responseId, caller.conversationId);
  }

  #isNew({ type }: UiChunk, number: number): boolean {
    if (type === 'reset-step' && !this.#resets.includes(number)) {
      this.#resets = [...this.#resets.filter((earlier) => earlier < number), number];
      this.#wanted = number;
    }
    if (number < this.#wanted) return false;
    this.#wanted = number + 1;
    return true;
  }
}
