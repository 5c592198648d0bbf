/** Collects the events of a reply's documents in order, and numbers the documents. */

import { documentIdOf } from '../../shared/ids.ts';
import type { DocumentType, Metadata } from '../../shared/wire/documents.ts';
import type { TapeEvent } from '../../shared/wire/events.ts';

/** Keeps events until `take`. The caller of `start` owns the document's id, and must end the document. */
export class DocumentWriter {
  #next: number;
  #events: TapeEvent[] = [];

  constructor(nextSequence: number) {
    this.#next = nextSequence;
  }

  /** Returns the new document's id. */
  start(type: DocumentType, metadata: Metadata): string {
    const sequence = this.#next++;
    const id = documentIdOf(sequence);
    this.#events.push({
      type: 'document_start',
      document: { id, type, sequence, ...(Object.keys(metadata).length > 0 && { metadata }) },
    });
    return id;
  }

  /** Joins the delta to a directly preceding one of the same document, so that one read makes one event. */
  addContent(documentId: string, delta: string): void {
    const last = this.#events.at(-1);
    if (last?.type === 'content_delta' && last.documentId === documentId) last.delta += delta;
    else this.#events.push({ type: 'content_delta', documentId, delta });
  }

  add(event: TapeEvent): void {
    this.#events.push(event);
  }

  end(documentId: string): void {
    this.#events.push({ type: 'document_end', documentId });
  }

  /** Returns the events since the last call. */
  take(): TapeEvent[] {
    const events = this.#events;
    this.#events = [];
    return events;
  }
}
