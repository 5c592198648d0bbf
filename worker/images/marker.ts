/**
 * How the place of an image says where its content is. Every part that passes an image on can take a marker for its
 * base64: it has only characters of base64, and no file of an image begins like it. Only markers that a request's own
 * images left count, whatever a client writes.
 */
import { type ImagePart, imagesOf, type MessageContent } from '../../shared/api/requests.ts';

/** An image that is held in pieces: by the SHA-256 of each, in their order. */
export interface HeldImage {
  /** Of base64. */
  readonly chars: number;
  readonly digests: readonly string[];
}

/** Stands in place of the image's base64. */
export function markerOf({ chars, digests }: HeldImage): string {
  return ['held', chars, ...digests].join('/');
}

/** Stands in place of the base64 of what no model gets. */
export const NOT_HELD = 'left';

const MARKER = /^held\/(\d{1,9})((?:\/[\da-f]{64})+)$/;

/** What the base64 of an image names; undefined for an image itself. */
export function heldIn(base64: string): HeldImage | undefined {
  const [, chars, digests] = MARKER.exec(base64) ?? [];
  return digests === undefined
    ? undefined
    : { chars: Number(chars), digests: digests.slice(1).split('/') };
}

/** The same for an image's address. */
export function heldAt(url: string): HeldImage | undefined {
  const [head, base64] = url.split(';base64,');
  return head?.startsWith('data:') && base64 !== undefined ? heldIn(base64) : undefined;
}

/** The images of a message that are held. */
export function heldOf(content: MessageContent): HeldImage[] {
  return imagesOf(content).flatMap(({ image_url: { url } }: ImagePart) => heldAt(url) ?? []);
}
