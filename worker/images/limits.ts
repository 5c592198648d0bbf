/** How large images are held. What a request may hold of them is in `shared/limits.ts`. */
import { HOUR, KIB, MIB, SECOND } from '../../shared/units.ts';

export const HELD_LIMITS = {
  /** Characters of images that stay in their request, all together: then most requests need no other object. */
  inlineChars: 256 * KIB,
  /** Characters of an image that always stays, in the bounds of its request: each one that is held takes a call. */
  smallChars: 16 * KIB,
  /** Characters of a row. An object takes rows of up to 2 MB. A multiple of four, so that only the last one is padded. */
  pieceChars: MIB,
  /** How long images wait for their conversation at most. A slow phone takes an hour to send them. */
  waitMs: 3 * HOUR,
  /** How long they wait after their sender has left: the conversation may be taking them just then. */
  leftMs: 2 * SECOND,
  /** Characters that one conversation holds: hundreds of images. An object of Cloudflare's takes 10 GB. */
  maxHeldChars: 512 * MIB,
  /** Characters of one request to a model: few servers take more, and each turn sends all of them again. */
  maxSentChars: 48 * MIB,
} as const;
