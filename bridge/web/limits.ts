/** Limits of pages that the bridge reads from the web. */
import { KIB, SECOND } from '../../shared/units.ts';

export const WEB_LIMITS = {
  /** Milliseconds for a page with all its redirects. */
  maxMs: 6 * SECOND,
  /** Redirects to follow: sites need one or two. */
  maxRedirects: 5,
  /** Bytes of a page: the text of a long manual page with its markup. */
  maxBytes: 1024 * KIB,
  /** Bytes of a response's head. */
  maxHeadBytes: 16 * KIB,
} as const;
