/** The limits of the readers of a tape. */
import { KIB, MINUTE, SECOND } from '../../shared/units.ts';

/** The adapter between an object's socket and its reader's SSE response or WebSocket. */
export const FOLLOW_LIMITS = {
  heartbeatMs: 15 * SECOND,
  /** How long an answer in one piece keeps its own status. After that its headers are sent with 200. */
  heldMs: 15 * SECOND,
  /** Interval of spaces before a late answer in one piece: the third write notices that a client has left. */
  trickleMs: 5 * SECOND,
  /** A reader that takes nothing for this long counts as gone. */
  stalledMs: 30 * SECOND,
  /** Bytes of one write to a reader. A reader must take this much within `stalledMs`. */
  pieceBytes: 128 * KIB,
  /** A stream ends after this time, and the client returns with its cursor. Bounds leaks and the CPU of one request. */
  maxLifeMs: 10 * MINUTE,
  /** An answer in one piece that hears nothing of its run for so long attaches again: the object may have fallen silent. */
  silentMs: MINUTE,
  /** The client's delay before it reconnects, sent as SSE `retry:`. */
  retryMs: 100,
  /**
   * Between two messages on a reader's WebSocket. A browser needs 0.2 ms for each, and a text that grows nine times a
   * second reads as well as one that grows with each token. More than 100 ms: see GROWTH_MS of web/live.ts.
   */
  paceMs: 110,
  /** UTF-16 units that may wait for a slow reader. Beyond it the object's socket is closed; the tape has the rest. */
  maxBufferedChars: 256 * KIB,
  /** Unacknowledged UTF-16 units at which a WebSocket's delivery resumes: low enough that it does not stop at once. */
  resumeChars: 128 * KIB,
  /** UTF-16 units of a WebSocket reader's message: `{"ack": position}` with a safe integer takes 26. */
  maxAckChars: 64,
  /** Interval and number of the attempts to attach again after the object's socket has closed. */
  reattachMs: 200,
  maxReattaches: 150,
} as const;
