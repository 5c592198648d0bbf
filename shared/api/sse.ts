/** Writes and reads events as Server-Sent Events (WHATWG HTML, section 9.2), in both framings. */
import type { StreamEvent } from '../wire/events.ts';
import type { AccountEvent } from './account-events.ts';
import type { Framing } from './requests.ts';

/** One event as SSE text. `position` becomes the `id:`; null leaves the reader's cursor. JSON has no raw line end. */
export function formatEvent(
  event: StreamEvent | AccountEvent,
  position: number | null,
  framing: Framing,
): string {
  const id = position === null ? '' : `id: ${position}\n`;
  if (framing === 'named') {
    return `event: ${event.type}\n${id}data: ${JSON.stringify(dataOfNamed(event))}\n\n`;
  }
  const end = event.type === 'done' ? 'data: [DONE]\n\n' : '';
  return `${id}data: ${JSON.stringify(unnamedData(event))}\n\n${end}`;
}

/** The event of a named frame with this data, which no schema has checked. */
export function eventOfNamed(name: string, data: unknown): { readonly type: string } {
  const member = NESTED[name];
  return member ? { type: name, [member]: data } : { ...Object(data), type: name };
}

/** The last cursor in finished SSE text; undefined if it has none. */
export function lastCursorIn(text: string): number | undefined {
  const start = text.lastIndexOf('\nid: ');
  if (start >= 0) return Number.parseInt(text.slice(start + '\nid: '.length), 10);
  return text.startsWith('id: ') ? Number.parseInt(text.slice('id: '.length), 10) : undefined;
}

/** Events with one member: the data of a named frame is that member, in the form of the response structure. */
const NESTED: Readonly<Record<string, string>> = {
  message: 'message',
  response_start: 'response',
  document_start: 'document',
  snapshot: 'snapshot',
  conversation: 'conversation',
  bridge: 'bridge',
};

/** The data of a named frame with this event: the inverse of {@link eventOfNamed}. */
export function dataOfNamed(event: { readonly type: string }): object {
  const { type, ...data } = event;
  const member = NESTED[type];
  return member ? Reflect.get(data, member) : data;
}

/** The plain form of documents: a document's metadata is beside its id, and a result is its text. */
function unnamedData(event: StreamEvent | AccountEvent): object {
  switch (event.type) {
    case 'document_start': {
      const { metadata, ...document } = event.document;
      return { type: event.type, document: { ...metadata, ...document } };
    }
    case 'tool_result': {
      const { status, data } = event.result;
      return { type: event.type, documentId: event.documentId, status, result: data };
    }
    default:
      return event;
  }
}
