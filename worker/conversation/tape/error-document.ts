/** An `error` document, which shows a failure to people. Pure. */

import { documentIdOf } from '../../../shared/ids.ts';
import type { TapeEvent } from '../../../shared/wire/events.ts';

export interface ErrorReport {
  readonly code: string;
  /** A tool's name, or the part of Drawbridge that failed. */
  readonly source: string;
  /** One sentence for people. */
  readonly message: string;
  /** The exact problem. Without it, the document repeats the message. */
  readonly details?: string;
}

/** The code of an `error` document about damaged rows in storage. */
export const UNREADABLE = 'UNREADABLE';

/** The events of a whole `error` document with this `sequence`. `trace` is the run's. */
export function errorDocument(
  sequence: number,
  error: ErrorReport,
  trace?: string | undefined,
): TapeEvent[] {
  const id = documentIdOf(sequence);
  const metadata = {
    errorCode: error.code,
    source: error.source,
    details: error.details ?? error.message,
    ...(trace !== undefined && { traceId: trace }),
  };
  return [
    { type: 'document_start', document: { id, type: 'error', sequence, metadata } },
    { type: 'content_delta', documentId: id, delta: error.message },
    { type: 'document_end', documentId: id },
  ];
}
