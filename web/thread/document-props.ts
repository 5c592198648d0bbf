/** What the parts of a thread get that show one document, by its type. */
import type { ChatResponse, Document } from '../../client/index.ts';
import type { Thread } from '../store/thread.ts';

export interface DocumentProps {
  readonly document: Document;
  readonly thread: Thread;
  readonly response: ChatResponse;
  /** Whether more of it may come. */
  readonly isOpen: boolean;
}

/** A text of the metadata, which grows while a document streams; empty until it is there. */
export function textIn(metadata: Document['metadata'], name: string): string {
  const value = metadata[name];
  return typeof value === 'string' ? value : '';
}
