/** A stream in one of OpenAI's shapes, held back until the model answers, so that an early failure has its own status. */

import type { OutputForm } from '../../shared/api/requests.ts';
import type { Words } from '../../shared/shown/markdown.ts';
import { SseWriter } from '../../worker/door.ts';
import type { FollowedAnswer } from '../words/answer-reader.ts';
import type { Ending, Failure } from '../words/ending.ts';
import type { Wire } from '../words/word-stream.ts';

/** A class below it writes the events of one API. */
export abstract class HeldWire implements Wire {
  readonly writer = new SseWriter();
  /** The model that answers now: a fallback may take over. */
  protected model: string;
  readonly #opening = Promise.withResolvers<Failure | null>();
  #isOpen = false;

  readonly #form: OutputForm | undefined;

  /** `model` is the requested one. With a `form`, the answer is known only when it was checked. */
  constructor(model: string, form: OutputForm | undefined) {
    this.model = model;
    this.#form = form;
  }

  /** Resolves with null when there is something to read, or with the failure if there never will be. */
  get opening(): Promise<Failure | null> {
    return this.#opening.promise;
  }

  write(words: Words, { hasBegun, response }: FollowedAnswer): void {
    this.model = response?.model ?? this.model;
    if (hasBegun) this.#open();
    this.add(this.#form ? { ...words, content: '' } : words);
  }

  beat(): void {
    this.#open();
    this.writer.write(': at work\n\n');
  }

  end(ending: Ending, answer: FollowedAnswer): void {
    if (ending.type === 'failed' && !this.#isOpen) return this.#opening.resolve(ending.failure);
    this.#open();
    const { output } = answer.response?.metadata ?? {};
    if (output !== undefined) this.add({ content: output, reasoning: '' });
    this.finish(ending, answer);
  }

  /** Writes what comes before the first word. */
  protected abstract begin(): void;
  protected abstract add(words: Words): void;
  protected abstract finish(ending: Ending, answer: FollowedAnswer): void;

  #open(): void {
    if (this.#isOpen) return;
    this.#isOpen = true;
    this.begin();
    this.#opening.resolve(null);
  }
}
