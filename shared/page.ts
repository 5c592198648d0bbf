/** The headers of the web page (web/): the Worker sends them on plain workerd, a deployment has them as a file. */

/** Only the page's own modules and files, its own server, and no text that becomes HTML or script (Trusted Types). */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "manifest-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  // Only the service worker's URL has a policy (web/session/offline.ts).
  'trusted-types drawbridge',
].join('; ');

/** Of every file of the page. */
export const PAGE_HEADERS = {
  'content-security-policy': POLICY,
  'cross-origin-opener-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
} as const;

/** The name of such a file has a hash of its content. */
export const HASHED_HEADERS = { 'cache-control': 'public, max-age=31536000, immutable' } as const;

/** The folder of the hashed files, below the page's. */
export const HASHED_FOLDER = 'page';
