/** What the model thought, as `reasoning` documents: one for each stretch of it. */
import type { DocumentWriter } from './document-writer.ts';

export class ReasoningDocuments {
  readonly #writer: DocumentWriter;
  /** '' while none is open. */
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

  /** Ends what is open; reasoning after it begins anew. */
  end(): void {
    if (this.#documentId !== '') this.#writer.end(this.#documentId);
    this.#documentId = '';
  }
}
