/** The events of a reply's documents, in order: numbers the documents and knows which are open. */
import type { DocumentType, Metadata } from '../../shared/documents.ts';
import type { TapeEvent } from '../../shared/events.ts';
import { documentIdOf } from '../../shared/ids.ts';

export class DocumentWriter {
  #next: number;
  readonly #open = new Set<string>();
  #events: TapeEvent[] = [];

  constructor(nextSequence: number) {
    this.#next = nextSequence;
  }

  /** Returns the new document's id. */
  start(type: DocumentType, metadata?: Metadata): string {
    const sequence = this.#next++;
    const id = documentIdOf(sequence);
    this.#open.add(id);
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
    this.#open.delete(documentId);
    this.#events.push({ type: 'document_end', documentId });
  }

  /** Ends all that is open, marked as cut off. */
  interrupt(): void {
    for (const documentId of this.#open) {
      this.#events.push({ type: 'document_end', documentId, metadata: { interrupted: true } });
    }
    this.#open.clear();
  }

  /** The events since the last time. */
  take(): TapeEvent[] {
    const events = this.#events;
    this.#events = [];
    return events;
  }
}
