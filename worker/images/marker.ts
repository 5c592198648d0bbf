/**
 * How the place of an image says where its content is. Every part that passes an image on can take a marker for the
 * content: it has only characters of base64, and no file of an image begins like it.
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

const MARKER = /held\/(\d{1,9})((?:\/[\da-f]{64})+)/;

/** The markers in a text, each with its place. */
export function markersIn(text: string): (HeldImage & { at: number; end: number })[] {
  return Array.from(text.matchAll(new RegExp(MARKER, 'g')), ({ 0: found, index }) => ({
    ...(heldIn(found) ?? { chars: 0, digests: [] }),
    at: index,
    end: index + found.length,
  }));
}

/** What the base64 of an image names; undefined for an image itself. */
export function heldIn(base64: string): HeldImage | undefined {
  const [whole, chars, digests = ''] = MARKER.exec(base64) ?? [];
  if (whole !== base64) return undefined;
  return { chars: Number(chars), digests: digests.slice(1).split('/') };
}

/** A part with an image. */
interface Addressed {
  readonly image_url: Pick<ImagePart['image_url'], 'url'>;
}

/** The same for an image's address. */
export function heldAt({ image_url: { url } }: Addressed): HeldImage | undefined {
  const [head, base64] = url.split(';base64,');
  return head?.startsWith('data:') && base64 !== undefined ? heldIn(base64) : undefined;
}

/** The digests of all pieces that a message names. */
export function digestsIn(content: MessageContent): string[] {
  return imagesOf(content).flatMap((image) => heldAt(image)?.digests ?? []);
}
