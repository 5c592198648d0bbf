/** The limits of the client. */
import { KIB, SECOND } from '../shared/units.ts';

/** The client's side of a stream. */
export const CLIENT_LIMITS = {
  /** A connection without a byte for this long is dead: two missed heartbeats, and some time for the network. */
  silentMs: 35 * SECOND,
  /** The same for a page that comes back to its person or to the network: one missed heartbeat. */
  wakeSilentMs: 20 * SECOND,
  /** UTF-16 units of a WebSocket that are acknowledged together. The server goes on with 128 Ki of them outstanding. */
  ackChars: 32 * KIB,
  /** The first wait before a reconnect, unless the server names one, and the longest. It doubles, with jitter. */
  backoffMinMs: 100,
  backoffMaxMs: 10 * SECOND,
} as const;
