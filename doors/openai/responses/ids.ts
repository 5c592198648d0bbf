/** Ids in the form of OpenAI's Responses. Each holds the id of our response, so that nothing has to be looked up. */
import { ResponseId } from '../../../shared/ids.ts';
import type { AnswerPlace } from '../../../worker/door.ts';
import { nameOf } from '../answering.ts';

/** What the ids of one response and its items share. Nothing goes on from an answer that is not kept. */
export function nameIn(place: AnswerPlace, isKept: boolean): string {
  return `${isKept ? '' : 'unstored-'}${nameOf(place)}`;
}

/** A message, reasoning, or a call of a tool of the app. */
export type ItemKind = 'msg' | 'rs' | 'fc' | 'ctc';

/** The id of the item at this index of the output. */
export function itemId(kind: ItemKind, name: string, index: number): string {
  return `${kind}_${name}_${index}`;
}

/** The id of our response that an id of a response or of an item names; undefined for an id that names none. */
export function responseIdIn(id: string): string | undefined {
  const [, name = ''] = /^(?:resp|msg|rs|fc|ctc)_([\w-]+?)(?:_\d+){0,2}$/.exec(id) ?? [];
  return ResponseId.safeParse(`${PREFIX}${name}`).data;
}

const PREFIX = 'chat_';
