/** Turns a reply into documents while the model still writes: parts in, events for the tape out. */

import type { ReplyPart, UpstreamReply } from '../../packages/model/index.ts';
import type { Toolbox } from '../../shared/tools/toolbox.ts';
import type { TapeEvent } from '../../shared/wire/events.ts';
import { CallDocument, type ReplyCall } from './call-document.ts';
import { DocumentWriter } from './document-writer.ts';
import { TextDocuments } from './text-documents.ts';

/** The result of {@link ReplyDocuments.end}. */
export type { ReplyCall };

export interface ReplyDocumentsOptions {
  /** The sequence of the reply's first document. */
  readonly nextSequence: number;
  /** Returns `call_<uuid>`. */
  readonly newCallId: () => string;
  /** Whether reasoning becomes documents too. Otherwise it is not shown. */
  readonly withReasoning: boolean;
  /** The run's tools, which decide the form of a call's document. */
  readonly toolbox: Toolbox;
}

/** Turns one reply into documents. A call's document stays open after {@link end}, until its result. */
export class ReplyDocuments {
  readonly #writer: DocumentWriter;
  readonly #text: TextDocuments;
  readonly #newCallId: () => string;
  readonly #toolbox: Toolbox;
  readonly #reasoning: ReasoningDocuments | null;
  /** By the part's `call`. Each call has its own state, because fragments of several calls may alternate. */
  readonly #calls: CallDocument[] = [];
  /** The number of calls that were asked to start. All of them have started, except calls without a name. */
  #startedCount = 0;

  constructor({ nextSequence, newCallId, withReasoning, toolbox }: ReplyDocumentsOptions) {
    this.#writer = new DocumentWriter(nextSequence);
    this.#text = new TextDocuments(this.#writer);
    this.#newCallId = newCallId;
    this.#toolbox = toolbox;
    this.#reasoning = withReasoning ? new ReasoningDocuments(this.#writer) : null;
  }

  push(parts: readonly ReplyPart[]): TapeEvent[] {
    for (const part of parts) {
      if (part.type === 'text') this.#addText(part.text);
      else if (part.type === 'reasoning') this.#addReasoning(part.text);
      else this.#callOf(part.call).push(part);
    }
    return this.#writer.take();
  }

  /** Call at the end of the reply, also of one that broke off. Ends its text, and completes its calls in their order. */
  end(reply: Pick<UpstreamReply, 'calls'>): { events: TapeEvent[]; calls: ReplyCall[] } {
    this.#text.end();
    this.#reasoning?.end();
    const calls = reply.calls.map((call, index) => this.#callOf(index).finish(call));
    return { events: this.#writer.take(), calls };
  }

  #addText(text: string): void {
    this.#startCalls(this.#calls.length);
    this.#reasoning?.end();
    this.#text.push(text);
  }

  /** Ends the text before it, even if reasoning is not shown, so that the other documents are the same either way. */
  #addReasoning(text: string): void {
    this.#text.end();
    if (!this.#reasoning) return;
    this.#startCalls(this.#calls.length);
    this.#reasoning.push(text);
  }

  /** A new call ends the text or the reasoning before it. */
  #callOf(number: number): CallDocument {
    let call = this.#calls[number];
    while (!call) {
      this.#text.end();
      this.#reasoning?.end();
      const count = this.#calls.length + 1;
      const added = new CallDocument(this.#writer, this.#newCallId(), this.#toolbox, () => {
        this.#startCalls(count);
        added.start();
      });
      this.#calls.push(added);
      call = this.#calls[number];
    }
    return call;
  }

  /** Starts documents in the order of their calls. A call whose subject is incomplete starts without it. */
  #startCalls(count: number): void {
    while (this.#startedCount < count) this.#calls[this.#startedCount++]?.start();
  }
}

/** Reasoning as `reasoning` documents, one for each uninterrupted stretch. */
class ReasoningDocuments {
  readonly #writer: DocumentWriter;
  /** '' while no document is open. */
  #documentId = '';

  constructor(writer: DocumentWriter) {
    this.#writer = writer;
  }

  push(text: string): void {
    if (this.#documentId === '') {
      this.#documentId = this.#writer.start('reasoning', { format: 'plain' });
    }
    this.#writer.addContent(this.#documentId, text);
  }

  /** Ends the open document. Later reasoning begins a new one. */
  end(): void {
    if (this.#documentId !== '') this.#writer.end(this.#documentId);
    this.#documentId = '';
  }
}
