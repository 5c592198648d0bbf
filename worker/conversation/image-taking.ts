/** Takes the large images of a message from where they wait into its conversation. */
import type { MessageContent } from '../../shared/api/requests.ts';
import { DrawbridgeError } from '../../shared/errors.ts';
import type { Env } from '../env.ts';
import { HELD_LIMITS } from '../images/limits.ts';
import { heldOf, markerOf } from '../images/marker.ts';
import { unknownImage, type WaitingPlace } from '../images/waiting.ts';
import { conversationOf } from '../objects.ts';
import { reach } from '../reach.ts';
import { notFound } from './found.ts';
import type { Parts } from './parts.ts';
import type { ConversationStore } from './store/statements.ts';

/** Where they go. Without a conversation yet, an alarm deletes them unless one is made. */
export interface ImageDoor {
  readonly env: Env;
  readonly storage: DurableObjectStorage;
  readonly store: ConversationStore;
  readonly parts: () => Parts | null;
}

/** The pieces of a message. */
export interface TakenPieces {
  readonly taken: string[];
  readonly found: Set<string>;
}

/**
 * Stores the pieces of images that these messages have, from the place where they wait. `taken` gets the digests of
 * those that were not here before, `found` of those that were: another message may have brought them.
 * @throws {DrawbridgeError} INVALID_REQUEST for an image that the request has not brought, CONVERSATION_FULL, and
 * NOT_FOUND where the conversation is deleted meanwhile.
 */
export async function takeImages(
  { env, storage, store, parts }: ImageDoor,
  said: readonly MessageContent[],
  place: WaitingPlace | undefined,
  { taken, found }: TakenPieces,
): Promise<void> {
  const held = said.flatMap(heldOf);
  if (held.length === 0) return;
  const known = new Set(place?.markers);
  if (!place || held.some((image) => !known.has(markerOf(image)))) throw unknownImage();
  const began = parts();
  if (!began) {
    store.prepare();
    await storage.setAlarm(Date.now() + HELD_LIMITS.waitMs);
  }
  let chars = store.images.chars;
  for (const digest of new Set(held.flatMap(({ digests }) => digests))) {
    if (store.images.charsOf(digest) !== null) {
      found.add(digest);
      continue;
    }
    const waiting = () => conversationOf(env, { conversationId: place.id });
    const piece = await reach<string | null>(() => waiting().imagePiece(digest));
    if (began && parts() !== began) throw notFound('conversation');
    if (piece === null) throw unknownImage();
    chars += piece.length;
    if (chars > HELD_LIMITS.maxHeldChars) throw full();
    const { current, newest = 0 } = parts()?.log ?? {};
    store.images.insert(digest, current?.ordinal ?? newest + 1, piece);
    taken.push(digest);
  }
  if (began && parts() !== began) throw notFound('conversation');
}

function full(): DrawbridgeError {
  const message = 'The conversation holds too many images: start a new one, or leave this one out';
  return new DrawbridgeError('CONVERSATION_FULL', message);
}
