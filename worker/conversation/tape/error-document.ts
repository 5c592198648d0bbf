/** What a person is told of a failure: an `error` document. Pure. */
import type { TapeEvent } from '../../../shared/events.ts';
import { documentIdOf } from '../../../shared/ids.ts';

/** What an `error` document tells. */
export interface ErrorReport {
  readonly code: string;
  /** A tool's name, or the part of Drawbridge that failed. */
  readonly source: string;
  /** One sentence for people. */
  readonly message: string;
  /** What exactly was wrong; the message itself, where there is no more to say. */
  readonly details?: string;
}

/** The code of an `error` that tells of what is damaged in storage. */
export const UNREADABLE = 'UNREADABLE';

/** The whole document, numbered `sequence`. */
export function errorDocument(sequence: number, error: ErrorReport): TapeEvent[] {
  const id = documentIdOf(sequence);
  const metadata = {
    errorCode: error.code,
    source: error.source,
    details: error.details ?? error.message,
  };
  return [
    { type: 'document_start', document: { id, type: 'error', sequence, metadata } },
    { type: 'content_delta', documentId: id, delta: error.message },
    { type: 'document_end', documentId: id },
  ];
}
