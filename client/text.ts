/** An answer as one text that grows, for a program that prints it. */
import { factsOf, fenceInfoOf } from '../shared/wire/document-types.ts';
import type { ChatResponse } from '../shared/wire/documents.ts';
import { foldEvent, isOver, newResponse } from '../shared/wire/fold.ts';
import type { EventStream, TextStream } from './api.ts';
import { ClientError } from './error.ts';

/** @throws {ClientError} with the error of the answer, at the end of one that failed. */
export async function* textIn(events: EventStream): TextStream {
  let response: ChatResponse | undefined;
  let shown = '';
  for await (const { event } of events) {
    const { type } = event;
    if (type === 'response_start') response = newResponse(event.response);
    else if (type === 'snapshot') response = Object(event.snapshot).response;
    else if (response) foldEvent(response, event);
    // A crash can take back several documents: the next event shows what is left.
    const isTaken = type === 'document_end' && event.metadata?.['interrupted'];
    if (!response || isTaken) continue;
    const said = textSoFar(response);
    if (!said.startsWith(shown)) {
      const length = commonLength(shown, said);
      // What a crash took back may be said again as it was.
      if (length === said.length && !isOver(response.status)) continue;
      yield { type: 'rewind', length };
      shown = said.slice(0, length);
    }
    const text = said.slice(shown.length);
    if (text) yield { type: 'text', text };
    shown = said;
  }
  if (response?.status !== 'error') return;
  const error = response.documents.findLast((document) => document.type === 'error');
  const { errorCode, details } = error?.metadata ?? {};
  throw new ClientError(`${errorCode}`, `${error?.content || details}`);
}

/** The text of the agent, with code in its fences. The last fence is open while more code can come. */
function textSoFar({ documents, status }: ChatResponse): string {
  return documents
    .filter(({ type, content }) => content && factsOf(type).voice === 'answer')
    .map((document) => {
      const { content, metadata } = document;
      const info = fenceInfoOf(document);
      if (info === null) return content;
      const fence = '`'.repeat(Number(metadata['fenceLength'] ?? 3));
      const isOpen = document === documents.at(-1) && !isOver(status);
      return `${fence}${info}\n${content}${isOpen ? '' : `\n${fence}`}`;
    })
    .join('\n\n');
}

function commonLength(one: string, other: string): number {
  let length = 0;
  while (length < one.length && one[length] === other[length]) length++;
  // Not between the halves of a surrogate pair.
  return one.charCodeAt(length - 1) >> 10 === 54 ? length - 1 : length;
}
