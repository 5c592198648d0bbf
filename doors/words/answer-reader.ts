/** The next text for a client that keeps all text it got, and the end where the answer cannot go on for it. */

import { Rendering, type Words } from '../../shared/shown/markdown.ts';
import type { ChatResponse, Document } from '../../shared/wire/documents.ts';
import type { StreamEvent } from '../../shared/wire/events.ts';
import { ResponseFold } from '../../worker/door-reading.ts';
import { type AnswerUsage, usageOfAnswer } from './answer-usage.ts';
import { clientCallsIn, documentsAfter } from './client-calls.ts';
import { type Ending, endingOf, TAKEN_BACK } from './ending.ts';

/** The text that is new since the last call. */
export interface NewWords extends Words {
  /** Set once nothing can follow. */
  readonly ending: Ending | null;
}

/**
 * Reads a follower's events, which may start from the beginning several times: after a reset of the object, or if the
 * reader was slow. The text so far is always the beginning of the answer. If a crash takes text back, this waits
 * until the same text comes again. If different text comes, the ending is {@link TAKEN_BACK}.
 */
export class FollowedAnswer {
  readonly #fold = new ResponseFold();
  readonly #after: number;
  #rendering = new Rendering();
  #content = new GrowingText();
  #reasoning = new GrowingText();

  /** `after` is the sequence of the last document that an earlier answer of the same run had; 0 without one. */
  constructor(after = 0) {
    this.#after = after;
  }

  /** Whether the answer has a document. An error alone does not count. */
  get hasBegun(): boolean {
    return this.#documents.some(({ type }) => type !== 'error');
  }

  /** Whether the run is over, or waits for the app. */
  get isOver(): boolean {
    return this.#fold.isDone || this.clientCalls.length > 0;
  }

  /** The calls of the app's own tools that the answer ends with. */
  get clientCalls(): readonly Document[] {
    return clientCallsIn(this.#fold, this.#after);
  }

  get #documents(): readonly Document[] {
    return documentsAfter(this.#fold.response, this.#after);
  }

  /** The response as far as it was seen. Owned by this object. */
  get response(): ChatResponse | null {
    return this.#fold.response;
  }

  /** What the answer has used so far; null while nothing is reported. */
  get usage(): AnswerUsage | null {
    return usageOfAnswer(this.#fold.response, this.#after);
  }

  read(events: readonly StreamEvent[]): NewWords {
    for (const event of events) this.#see(event);
    const words = this.#rendering.take();
    const content = this.#content.add(words.content);
    const reasoning = this.#reasoning.add(words.reasoning) ?? this.#thinkAnew(words.reasoning);
    const { isOver } = this;
    const isTrue = content !== null && (!isOver || this.#content.isWhole);
    const end = isOver ? endingOf(this.response) : null;
    return { content: content ?? '', reasoning, ending: isTrue ? end : TAKEN_BACK };
  }

  #see(event: StreamEvent): void {
    this.#fold.see(event);
    const isTakenBack = event.type === 'document_end' && event.metadata?.['interrupted'] === true;
    if (event.type === 'response_start' || isTakenBack) return this.#startOver();
    const isEarlier = event.type === 'document_start' && event.document.sequence <= this.#after;
    if (!isEarlier) this.#rendering.see(event);
  }

  /** Renders the answer again from its beginning, with the documents that are left. */
  #startOver(): void {
    this.#rendering = new Rendering();
    this.#content.rewind();
    this.#reasoning.rewind();
    const { openDocuments } = this.#fold;
    for (const document of this.#documents) {
      this.#rendering.grow(document, !openDocuments.has(document.id));
    }
  }

  /** Appends different reasoning after reasoning that was taken back. This is harmless: no client relies on it. */
  #thinkAnew(reasoning: string): string {
    this.#reasoning = new GrowingText();
    return this.#reasoning.add(reasoning) ?? '';
  }
}

/** A text that a client holds. It can only grow, although it may be said again from the beginning. */
class GrowingText {
  #text = '';
  #at = 0;

  /** Whether all of the text was said again since the last {@link rewind}. */
  get isWhole(): boolean {
    return this.#at === this.#text.length;
  }

  /** To be called when the text is said again from the beginning. */
  rewind(): void {
    this.#at = 0;
  }

  /** The new part of `said`; null if `said` contradicts the text. */
  add(said: string): string | null {
    const known = this.#text.slice(this.#at, this.#at + said.length);
    if (!said.startsWith(known)) return null;
    const fresh = said.slice(known.length);
    this.#text += fresh;
    this.#at += said.length;
    return fresh;
  }
}
