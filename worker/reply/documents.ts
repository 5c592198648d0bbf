/** A reply as documents: its parts in, events for the tape out, while the model still writes. */
import type { TapeEvent } from '../../shared/events.ts';
import type { Toolbox } from '../../shared/tools/toolbox.ts';
import type { ReplyPart, UpstreamReply } from '../upstream/reader.ts';
import { CallDocument, type ReplyCall } from './call-document.ts';
import { DocumentWriter } from './document-writer.ts';
import { ReasoningDocuments } from './reasoning-documents.ts';
import { TextDocuments } from './text-documents.ts';

/** What {@link ReplyDocuments.end} gives. */
export type { ReplyCall };

/** Where the reply stands in its response, and where ids come from. */
export interface ReplyDocumentsOptions {
  /** The sequence of the reply's first document. */
  readonly nextSequence: number;
  /** Gives `call_<uuid>`. */
  readonly newCallId: () => string;
  /** Whether what the model thought becomes documents too; without it nobody sees it. */
  readonly withReasoning: boolean;
  /** What the run may use: how a call is shown. */
  readonly toolbox: Toolbox;
}

/**
 * Turns one reply into documents. Those of text and code start and end by themselves; that of a call stays open behind
 * {@link end}, until the conversation has the call's result.
 */
export class ReplyDocuments {
  readonly #writer: DocumentWriter;
  readonly #text: TextDocuments;
  readonly #newCallId: () => string;
  readonly #toolbox: Toolbox;
  readonly #reasoning: ReasoningDocuments | null;
  /** By the part's `call`. Each has its own state: their fragments may alternate. */
  readonly #calls: CallDocument[] = [];
  /** How many of them were told to start: all of these have, but for one without a name. */
  #toldCount = 0;

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

  /** The reply has ended, well or not: ends its text and completes its calls, in the reply's order. */
  end(reply: UpstreamReply): { events: TapeEvent[]; calls: ReplyCall[] } {
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

  /** Ends the text before it whether it is shown or not: the other documents are the same for all who ask. */
  #addReasoning(text: string): void {
    this.#text.end();
    if (!this.#reasoning) return;
    this.#startCalls(this.#calls.length);
    this.#reasoning.push(text);
  }

  /** A new call ends the text or the thought before it. */
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

  /** Documents start in the order of their calls: one that could not decide yet starts with what it has. */
  #startCalls(count: number): void {
    while (this.#toldCount < count) this.#calls[this.#toldCount++]?.start();
  }
}
