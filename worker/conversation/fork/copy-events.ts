/** Rewrites the events of a conversation for its copy: new ids, and only events of the copied responses. Pure. */

import { parseResponseId, responseIdOf } from '../../../shared/ids.ts';
import type { TapeEvent } from '../../../shared/wire/events.ts';
import type { Lost, TapeRow } from '../store/rows.ts';
import { storedWidth } from '../store/stored.ts';

export interface Copy {
  readonly conversationId: string;
  readonly title: string;
  /** The last response in the copy. */
  readonly ordinal: number;
}

/** The row as the copy stores it: split in two where an event is left out, because positions stay. */
export function copyTapeRow({ position, events }: TapeRow, copy: Copy): CopiedRow[] {
  const rows: { position: number; events: TapeEvent[] }[] = [];
  let at = position;
  let isCut = true;
  for (const event of events) {
    const copied = copyEvent(event, copy);
    if (copied && isCut) rows.push({ position: at, events: [] });
    if (copied) rows.at(-1)?.events.push(copied);
    isCut = copied === null;
    at += storedWidth(event);
  }
  return rows;
}

/** A tape row of the copy, which has no lost events. */
interface CopiedRow extends TapeRow {
  readonly events: readonly TapeEvent[];
}

/** Null for a lost event, and for an event of a response that is not copied: its message can come early on the tape. */
function copyEvent(event: TapeEvent | Lost, copy: Copy): TapeEvent | null {
  switch (event.type) {
    case 'lost':
      return null;
    case 'message': {
      const responseId = copyId(event.message.responseId, copy);
      return responseId === null ? null : { ...event, message: { ...event.message, responseId } };
    }
    case 'response_start': {
      const { conversationId } = copy;
      const id = copyId(event.response.id, copy);
      return id === null ? null : { ...event, response: { ...event.response, id, conversationId } };
    }
    case 'message_update':
    case 'steered':
    case 'attached':
    case 'mode_update':
    case 'context_summary':
    case 'budget_near':
    case 'model_wait':
    case 'plan_update':
    case 'done': {
      const responseId = copyId(event.responseId, copy);
      return responseId === null ? null : { ...event, responseId };
    }
    case 'subagent_update': {
      const { conversationId: _, ...subagent } = event.subagent;
      return { ...event, subagent };
    }
    case 'conversation_update':
      return { ...event, title: copy.title, archived: false };
    case 'response_model':
    case 'document_start':
      return event;
    default:
      return event satisfies { readonly documentId: string };
  }
}

function copyId(responseId: string, copy: Copy): string | null {
  const { ordinal } = parseResponseId(responseId);
  return ordinal <= copy.ordinal ? responseIdOf(copy.conversationId, ordinal) : null;
}
