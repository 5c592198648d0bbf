/** Ids in the form of OpenAI's Responses. Each holds the id of our response, so that nothing has to be looked up. */
import { ResponseId } from '../../../shared/ids.ts';

/** What the ids of one response and its items share. Nothing goes on from an answer that is not kept. */
export function nameOf(responseId: string, isKept: boolean): string {
  return `${isKept ? '' : 'unstored-'}${responseId.slice(PREFIX.length)}`;
}

/** The id of the item at this index of the output. */
export function itemId(kind: 'msg' | 'rs', name: string, index: number): string {
  return `${kind}_${name}_${index}`;
}

/** The id of our response that an id of a response or of an item names; undefined for an id that names none. */
export function responseIdIn(id: string): string | undefined {
  const [, name = ''] = /^(?:resp|msg|rs)_([\w-]+?)(?:_\d+)?$/.exec(id) ?? [];
  return ResponseId.safeParse(`${PREFIX}${name}`).data;
}

const PREFIX = 'chat_';
