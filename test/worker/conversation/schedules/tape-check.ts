/** What must be true of the rows that a schedule has left on its conversation's tape. */
import { runInDurableObject } from 'cloudflare:test';
import type { TapeEvent } from '../../../../shared/wire/events.ts';
import { conversationObject } from '../conversing.ts';

/** Each of these responses has one terminal event, nothing was left open before it, and they came in their order. */
export async function checkTape(
  conversationId: string,
  responseIds: readonly string[],
): Promise<string[]> {
  const rows = await runInDurableObject(conversationObject(conversationId), (_, state) =>
    state.storage.sql.exec<{ body: string }>('select body from tape order by position').toArray(),
  );
  const events = rows.flatMap(({ body }) => JSON.parse(body) as TapeEvent[]);
  const ends = events.flatMap((event) => (event.type === 'done' ? [event.responseId] : []));
  const starts = events.flatMap((event) =>
    event.type === 'response_start' ? [event.response.id] : [],
  );
  return [
    ...(JSON.stringify([...ends].sort()) === JSON.stringify([...responseIds].sort())
      ? []
      : [`${ends} have finished, but accepted were ${responseIds}`]),
    ...(JSON.stringify(starts) === JSON.stringify([...new Set(starts)].sort())
      ? []
      : [`they started as ${starts}`]),
    ...openAtEnds(events).map((id) => `${id} was left open`),
  ];
}

function openAtEnds(events: readonly TapeEvent[]): string[] {
  const open = new Set<string>();
  let current = '';
  return events.flatMap((event) => {
    if (event.type === 'response_start') {
      current = event.response.id;
      open.clear();
    }
    if (event.type === 'document_start') open.add(event.document.id);
    if (event.type === 'document_end') open.delete(event.documentId);
    // What was cancelled while it waited ends in the middle of another one.
    return event.type === 'done' && event.responseId === current ? [...open] : [];
  });
}
