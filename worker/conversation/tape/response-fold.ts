/** Follows one response along the tape, so that the end of a document can be sent with its whole content. */
import type { ChatResponse } from '../../../shared/documents.ts';
import type { TapeEvent } from '../../../shared/events.ts';
import { findDocument, foldEvent, newResponse } from '../../../shared/fold.ts';

/** Sees every event of a tape in order, from a `response_start` on, and holds the response it belongs to. */
export class ResponseFold {
  /** Null before the first `response_start`. */
  response: ChatResponse | null = null;
  /** Documents that were started and not ended. */
  readonly openDocuments = new Set<string>();

  /** Applies the event and returns it as it is sent. */
  see(event: TapeEvent): TapeEvent {
    if (event.type === 'response_start') this.#begin(event);
    else if (this.response) foldEvent(this.response, event);
    if (event.type === 'document_start') this.openDocuments.add(event.document.id);
    if (event.type !== 'document_end') return event;
    this.openDocuments.delete(event.documentId);
    return this.#withContent(event);
  }

  #begin(event: Extract<TapeEvent, { type: 'response_start' }>): void {
    this.response = newResponse(event.response);
    this.openDocuments.clear();
  }

  #withContent(event: Extract<TapeEvent, { type: 'document_end' }>): TapeEvent {
    const content = this.response && findDocument(this.response, event.documentId)?.content;
    return content === null || content === undefined ? event : { ...event, finalContent: content };
  }
}
