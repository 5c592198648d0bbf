/** The cursor of the list of conversations: the end of a page, opaque to clients. */
import * as z from 'zod';
import { DrawbridgeError } from '../../shared/errors.ts';
import { ConversationId } from '../../shared/ids.ts';
import { decodeBase64Url, encodeBase64Url } from '../../shared/text/base64url.ts';
import { parseJson } from '../../shared/text/json.ts';
import type { ListPosition } from '../ports/account.ts';

const Position = z.tuple([z.int(), ConversationId]);

export function formatCursor({ updatedMs, id }: ListPosition): string {
  const json = JSON.stringify([updatedMs, id] satisfies z.input<typeof Position>);
  return encodeBase64Url(new TextEncoder().encode(json));
}

/** Throws INVALID_CURSOR if {@link formatCursor} cannot have written the cursor. */
export function parseCursor(cursor: string): ListPosition {
  try {
    const json = new TextDecoder().decode(decodeBase64Url(cursor));
    const [updatedMs, id] = Position.parse(parseJson(json));
    return { updatedMs, id };
  } catch (cause) {
    throw new DrawbridgeError(
      'INVALID_CURSOR',
      'cursor: this is not a cursor of the list: use nextCursor of the previous page',
      { cause },
    );
  }
}
