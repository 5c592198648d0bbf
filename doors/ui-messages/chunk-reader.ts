/** Reads a follower's events, which may start from the beginning several times, and returns each chunk once. */
import type { StreamEvent } from '../../shared/wire/events.ts';
import type { Begun } from '../../worker/door.ts';
import { Chunks, type UiChunk } from './chunks.ts';

/** Numbers chunks from 0, the same at each reading. A `reset-step` stands where a crash took some back. */
export class ChunkReader {
  readonly #begun: Begun;
  readonly #from: number;
  #chunks: Chunks;
  /** The number of the next chunk of `#chunks`. */
  #next = 0;
  /** The number of the next chunk that the reader lacks. */
  #wanted: number;
  /** The numbers of the `reset-step` chunks that the reader has. */
  #resets: number[] = [];
  /** Whether the response is over, or waits for the app's results. */
  isDone = false;

  /**
   * The reader has the chunks up to the number `after`; -1 for none. In a message that goes on, they are those of the
   * documents behind the sequence `from`.
   */
  constructor(begun: Begun, after: number, from = 0) {
    this.#begun = begun;
    this.#from = from;
    this.#chunks = this.#anew();
    this.#wanted = after + 1;
  }

  read(events: readonly StreamEvent[]): UiChunk[] {
    const chunks = events.flatMap((event) => {
      if (event.type === 'response_start' && this.#chunks.hasBegun) {
        this.#chunks = this.#anew();
        this.#next = 0;
      }
      this.#chunks.see(event);
      this.isDone ||= event.type === 'done';
      return this.#takeNew();
    });
    // Events of the past come together with what followed them.
    if (this.isDone || !this.#chunks.pause()) return chunks;
    this.isDone = true;
    return [...chunks, ...this.#takeNew()];
  }

  #takeNew(): UiChunk[] {
    return this.#chunks.take().filter((chunk) => this.#isNew(chunk, this.#next++));
  }

  #anew(): Chunks {
    const { caller, responseId } = this.#begun;
    return new Chunks(responseId, caller.conversationId, this.#from);
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
