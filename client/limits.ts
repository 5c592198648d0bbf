/** The limits of the client's side. */

const SECOND = 1000;

/** The client's side of a stream. */
export const CLIENT_LIMITS = {
  /** No byte for this long and the connection is dead: two heartbeats missed, and some for the way. */
  silentMs: 35 * SECOND,
  /** First wait before a stream is opened again (unless the server names one), and the longest; doubled with jitter. */
  backoffMinMs: 100,
  backoffMaxMs: 10 * SECOND,
} as const;
