/** Writes reasoning as `reasoning` documents, one for each uninterrupted stretch. */
import type { DocumentWriter } from './document-writer.ts';

export class ReasoningDocuments {
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
