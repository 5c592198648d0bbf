/** Folds the events of one response, so that a document's end can be sent with its whole content. */
import type { ChatResponse } from '../../../shared/wire/documents.ts';
import type { TapeEvent } from '../../../shared/wire/events.ts';
import { findDocument, foldEvent, newResponse } from '../../../shared/wire/fold.ts';

/** Takes every event of a tape in order, from a `response_start` on, and holds that event's response. */
export class ResponseFold {
  /** Null before the first `response_start`. */
  response: ChatResponse | null = null;
  /** The ids of documents that have started and not ended. */
  readonly openDocuments = new Set<string>();
  /** The sequence of the last document that has started, also of one that was taken back; 0 before the first. */
  lastSequence = 0;

  /** Applies the event and returns the event to send. */
  see(event: TapeEvent): TapeEvent {
    if (event.type === 'response_start') {
      this.response = newResponse(event.response);
      this.openDocuments.clear();
      this.lastSequence = 0;
    } else if (this.response) foldEvent(this.response, event);
    if (event.type === 'document_start') {
      this.openDocuments.add(event.document.id);
      this.lastSequence = event.document.sequence;
    }
    if (event.type !== 'document_end') return event;
    this.openDocuments.delete(event.documentId);
    const content = this.response && findDocument(this.response, event.documentId)?.content;
    return content === null || content === undefined ? event : { ...event, finalContent: content };
  }
}
