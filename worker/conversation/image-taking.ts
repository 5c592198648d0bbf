/** Takes the large images of a message from where they wait into its conversation. */
import type { MessageContent } from '../../shared/api/requests.ts';
import type { Env } from '../env.ts';
import { HELD_LIMITS } from '../images/limits.ts';
import { digestsIn } from '../images/marker.ts';
import { unknownImage } from '../images/waiting.ts';
import { conversationOf } from '../objects.ts';
import { reach } from '../reach.ts';
import type { Parts } from './parts.ts';
import type { ConversationStore } from './store/statements.ts';

/** Where they go. Without a conversation yet, an alarm deletes them unless one is made. */
export interface ImageDoor {
  readonly env: Env;
  readonly storage: DurableObjectStorage;
  readonly store: ConversationStore;
  readonly parts: () => Parts | null;
}

/**
 * Stores the pieces that these messages name, from the object `spool`. A message that is refused afterwards leaves them
 * here: it may come again.
 * @throws {DrawbridgeError} INVALID_REQUEST for a piece that is neither here nor there.
 */
export async function takeImages(
  { env, storage, store, parts }: ImageDoor,
  said: readonly MessageContent[],
  spool: string | undefined,
): Promise<void> {
  const digests = said.flatMap(digestsIn);
  if (digests.length === 0) return;
  if (!parts()) {
    store.prepare();
    await storage.setAlarm(Date.now() + HELD_LIMITS.waitMs);
  }
  const waiting = () => conversationOf(env, { conversationId: spool ?? '' });
  for (const digest of digests) {
    if (store.images.has(digest)) continue;
    const piece = spool && (await reach<string | null>(() => waiting().imagePiece(digest)));
    if (!piece) throw unknownImage();
    const { current, newest = 0 } = parts()?.log ?? {};
    store.images.insert(digest, current?.ordinal ?? newest + 1, piece);
  }
}
