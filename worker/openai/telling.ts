/** An answer on its way to a client that keeps all it was told: what to tell it next, and when it cannot be told on. */
import type { ChatResponse } from '../../shared/documents.ts';
import type { StreamEvent, TapeEvent } from '../../shared/events.ts';
import { answerOf } from '../../shared/fold.ts';
import { ResponseFold } from '../conversation/tape/response-fold.ts';
import { type Ending, endingOf, TAKEN_BACK } from './errors.ts';
import { Rendering, type Words } from './markdown.ts';

/** What is new since the last time. */
export interface Told extends Words {
  /** There once nothing can follow. */
  readonly ending: Ending | null;
}

/**
 * Sees a follower's events, as often as they are told from the beginning again: after a reset of the object, or when the
 * reader was slow. What it tells is always the beginning of the answer: words that a crash took back are waited for,
 * and where others come in their place, the telling ends with {@link TAKEN_BACK}.
 */
export class Telling {
  readonly #fold = new ResponseFold();
  #rendering = new Rendering();
  #content = new GrowingText();
  #reasoning = new GrowingText();
  #isDone = false;

  /** Whether the model has begun to answer. An error alone is no beginning. */
  get hasBegun(): boolean {
    return this.#fold.response?.documents.some(({ type }) => type !== 'error') ?? false;
  }

  /** Whether the run has ended. */
  get isDone(): boolean {
    return this.#isDone;
  }

  /** The response as far as it was seen. Owned here. */
  get response(): ChatResponse | null {
    return this.#fold.response;
  }

  see(events: readonly StreamEvent[]): Told {
    for (const event of events) {
      // These two are for readers with a cursor.
      if (event.type !== 'snapshot' && event.type !== 'heartbeat') this.#see(event);
    }
    const words = this.#rendering.take();
    const content = this.#content.add(words.content);
    const reasoning = this.#reasoning.add(words.reasoning) ?? this.#thinkAnew(words.reasoning);
    const isTrue = content !== null && (!this.#isDone || this.#content.isWhole);
    const end = this.#isDone ? endingOf(this.response) : null;
    return { content: content ?? '', reasoning, ending: isTrue ? end : TAKEN_BACK };
  }

  #see(event: TapeEvent): void {
    this.#fold.see(event);
    switch (event.type) {
      case 'response_start':
        return this.#tellAgain();
      case 'document_start':
        return this.#rendering.start(event.document);
      case 'content_delta':
        return this.#rendering.add(event.documentId, event.delta);
      case 'document_end':
        if (event.metadata?.['interrupted'] === true) return this.#tellAgain();
        return this.#rendering.end(event.documentId);
      case 'done':
        this.#isDone = true;
    }
  }

  /** The answer begins anew with what is left of it. */
  #tellAgain(): void {
    this.#rendering = new Rendering();
    this.#content.rewind();
    this.#reasoning.rewind();
    const { response, openDocuments } = this.#fold;
    for (const document of response ? answerOf(response).documents : []) {
      this.#rendering.start(document);
      this.#rendering.add(document.id, document.content ?? '');
      if (!openDocuments.has(document.id)) this.#rendering.end(document.id);
    }
  }

  /** Other thoughts than those that were taken back are shown behind them: nobody builds on thoughts. */
  #thinkAnew(reasoning: string): string {
    this.#reasoning = new GrowingText();
    return this.#reasoning.add(reasoning) ?? '';
  }
}

/** A text that someone holds and that can only grow, whatever is said again. */
class GrowingText {
  #text = '';
  #at = 0;

  /** Whether all of the text was said again since the last {@link rewind}. */
  get isWhole(): boolean {
    return this.#at === this.#text.length;
  }

  /** It is said again from the beginning. */
  rewind(): void {
    this.#at = 0;
  }

  /** The part of what is said next that is new; null where it is not what the text goes on with. */
  add(said: string): string | null {
    const known = this.#text.slice(this.#at, this.#at + said.length);
    if (!said.startsWith(known)) return null;
    const fresh = said.slice(known.length);
    this.#text += fresh;
    this.#at += said.length;
    return fresh;
  }
}
