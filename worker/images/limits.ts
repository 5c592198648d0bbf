/** How large images are held. What a request may hold of them is in `shared/limits.ts`. */
import { HOUR, KIB, MIB } from '../../shared/units.ts';

export const HELD_LIMITS = {
  /** Characters of images that stay in their request, all together: then most requests need no other object. */
  inlineChars: 256 * KIB,
  /** Characters of a row. An object takes rows of up to 2 MB. */
  pieceChars: MIB,
  /** How long images wait for their conversation. It takes them at once; what a crash has left goes after this time. */
  waitMs: HOUR,
} as const;
