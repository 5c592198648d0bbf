/** The cursor of the list of conversations: where a page ended, opaque to whoever passes it back. */
import * as z from 'zod';
import { DrawbridgeError } from '../../shared/errors.ts';
import { ConversationId } from '../../shared/ids.ts';
import { parseJson } from '../../shared/json.ts';
import type { ListPosition } from '../ports.ts';

const Position = z.tuple([z.int(), ConversationId]);

export function formatCursor({ updatedMs, id }: ListPosition): string {
  return btoa(JSON.stringify([updatedMs, id] satisfies z.input<typeof Position>))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replaceAll('=', '');
}

/** Throws INVALID_CURSOR for anything that {@link formatCursor} did not write. */
export function parseCursor(cursor: string): ListPosition {
  try {
    const json = atob(cursor.replaceAll('-', '+').replaceAll('_', '/'));
    const [updatedMs, id] = Position.parse(parseJson(json));
    return { updatedMs, id };
  } catch (cause) {
    throw new DrawbridgeError(
      'INVALID_CURSOR',
      'cursor: this is no cursor of the list: use the nextCursor of the page before',
      { cause },
    );
  }
}
