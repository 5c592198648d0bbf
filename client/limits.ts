/** The limits of the client. */
import { SECOND } from '../shared/units.ts';

/** The client's side of a stream. */
export const CLIENT_LIMITS = {
  /** A connection without a byte for this long is dead: two missed heartbeats, and some time for the network. */
  silentMs: 35 * SECOND,
  /** The same for a page that comes back to its person or to the network: one missed heartbeat. */
  wakeSilentMs: 20 * SECOND,
  /** The first wait before a reconnect, unless the server names one, and the longest. It doubles, with jitter. */
  backoffMinMs: 100,
  backoffMaxMs: 10 * SECOND,
} as const;
