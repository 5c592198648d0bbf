/** The documents that a reader was shown as ended: they end once, and never change again. */
import type { ChatResponse } from '../../../../shared/wire/documents.ts';
import type { TapeEvent } from '../../../../shared/wire/events.ts';

export class EndedDocuments {
  readonly problems: string[] = [];
  /** What each was shown as, by response and document. */
  readonly #whole = new Map<string, string>();
  readonly #ends = new Set<string>();

  /** A snapshot can take ends back. */
  forgetEnds(): void {
    this.#ends.clear();
  }

  see(response: ChatResponse, event: Extract<TapeEvent, { type: 'document_end' }>): void {
    const document = response.documents.find(({ id }) => id === event.documentId);
    if (!document) return;
    const key = keyOf(response.id, document.id);
    if (document.metadata['interrupted'] === true) {
      this.#whole.delete(key);
      return;
    }
    if (this.#ends.has(key)) this.problems.push(`${key} ended twice`);
    this.#ends.add(key);
    if (event.finalContent !== undefined) this.#whole.set(key, event.finalContent);
  }

  /** What is not as it was shown. Of a response that was cancelled behind a crash, the crash may have taken the end. */
  changedIn({ id: responseId, status, documents }: ChatResponse): string[] {
    return documents.flatMap(({ id, content }) => {
      const shown = this.#whole.get(keyOf(responseId, id));
      if (shown === undefined || shown === content) return [];
      if (status === 'cancelled' && shown.startsWith(content ?? '')) return [];
      return [`${id} was shown as ${shown} and is ${content}`];
    });
  }
}

function keyOf(responseId: string, documentId: string): string {
  return `${responseId} ${documentId}`;
}
