/** An answer that ends with calls of the app's own tools, and goes on in the next answer with their results. */
import type { ChatResponse, Document } from '../../shared/wire/documents.ts';
import { answerOf, isUnanswered } from '../../shared/wire/fold.ts';
import type { ResponseFold } from '../../worker/door-reading.ts';

/** The documents behind `after`, the sequence of the last one that an earlier answer of the run had. */
export function documentsAfter(response: ChatResponse | null, after: number): readonly Document[] {
  const { documents = [] } = response ? answerOf(response) : {};
  return documents.filter(({ sequence }) => sequence > after);
}

/** The calls that wait for the app; empty while anything else is under way. */
export function clientCallsIn(
  { response, openDocuments }: ResponseFold,
  after: number,
): readonly Document[] {
  if (response?.status !== 'waiting') return [];
  const open = documentsAfter(response, after).filter(({ id }) => openDocuments.has(id));
  return open.every(isForClient) ? open : [];
}

/** Whether an answer from `after` on ends with calls that wait for the app. */
export function waitsForClient(after: number): (fold: ResponseFold) => boolean {
  return (fold) => clientCallsIn(fold, after).length > 0;
}

/** Whether the document is a call that waits for the app. */
export function isForClient({ type, metadata }: Document): boolean {
  return type === 'tool_call' && isUnanswered(metadata);
}
