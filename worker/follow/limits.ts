/** The limits of the readers of a tape. */

const KIB = 1024;
const SECOND = 1000;
const MINUTE = 60 * SECOND;

/** The adapter between an object's socket and its reader's SSE response or WebSocket. */
export const FOLLOW_LIMITS = {
  heartbeatMs: 15 * SECOND,
  /** How long an answer in one piece may take under its own status; then its headers are sent, with 200. */
  heldMs: 15 * SECOND,
  /** Between two spaces ahead of such an answer. The second write behind a client's leaving fails, the third says so. */
  trickleMs: 5 * SECOND,
  /** A reader that takes nothing for this long is gone. */
  stalledMs: 30 * SECOND,
  /** Bytes of one write to it, which ends when all of them were taken: a slow reader takes so many in that time. */
  pieceBytes: 128 * KIB,
  /** A response ends by then and the client returns with its cursor: bounds leaks and the CPU of one request. */
  maxLifeMs: 10 * MINUTE,
  /** The client's delay before it returns, as SSE `retry:`. */
  retryMs: 100,
  /** Bytes waiting for a slow reader before the adapter lets go of its socket; the tape keeps the rest. */
  maxBufferedBytes: 256 * KIB,
  /** Unacknowledged bytes on a WebSocket at which the adapter goes on: well below, or each ack would let it go again. */
  resumeBytes: 128 * KIB,
  /** UTF-16 units of a WebSocket reader's message: `{"ack": position}` with a safe integer takes 26. */
  maxAckChars: 64,
  /** Between two attempts to attach again after the object's socket closed, and how many of them. */
  reattachMs: 200,
  maxReattaches: 150,
} as const;
