/** The events of a reply's documents, in order: numbers the documents. */
import type { DocumentType, Metadata } from '../../shared/documents.ts';
import type { TapeEvent } from '../../shared/events.ts';
import { documentIdOf } from '../../shared/ids.ts';

/** Collects events until they are taken. Whoever starts a document owns its id, and ends it. */
export class DocumentWriter {
  #next: number;
  #events: TapeEvent[] = [];

  constructor(nextSequence: number) {
    this.#next = nextSequence;
  }

  /** Returns the new document's id. */
  start(type: DocumentType, metadata?: Metadata): string {
    const sequence = this.#next++;
    const id = documentIdOf(sequence);
    this.#events.push({
      type: 'document_start',
      document: { id, type, sequence, ...(metadata && { metadata }) },
    });
    return id;
  }

  /** Joined with a delta of the same document right before it: what arrives in one read is shown as one. */
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

  /** The events since the last time. */
  take(): TapeEvent[] {
    const events = this.#events;
    this.#events = [];
    return events;
  }
}
