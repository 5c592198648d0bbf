/** The cursor of the list of conversations: the end of a page, opaque to clients. */
import * as z from 'zod';
import { DrawbridgeError } from '../../shared/errors.ts';
import { ConversationId } from '../../shared/ids.ts';
import { decodeBase64Url, encodeBase64Url } from '../../shared/text/base64url.ts';
import { parseJson } from '../../shared/text/json.ts';
import type { ListPosition } from '../ports/account.ts';

const Position = z.object({ updatedMs: z.int(), id: ConversationId });

export function formatCursor({ updatedMs, id }: ListPosition): string {
  const json = JSON.stringify([updatedMs, id]);
  return encodeBase64Url(new TextEncoder().encode(json));
}

/** @throws {DrawbridgeError} INVALID_CURSOR if {@link formatCursor} cannot have written the cursor. */
export function parseCursor(cursor: string): ListPosition {
  try {
    const json = new TextDecoder().decode(decodeBase64Url(cursor));
    const { 0: updatedMs, 1: id } = Object(parseJson(json));
    return Position.parse({ updatedMs, id });
  } catch (cause) {
    throw badCursor(cause);
  }
}

/** For a cursor that no page of the list had. */
export function badCursor(cause?: unknown): DrawbridgeError {
  return new DrawbridgeError(
    'INVALID_CURSOR',
    'cursor: this is not a cursor of the list: use nextCursor of the previous page',
    { cause },
  );
}
