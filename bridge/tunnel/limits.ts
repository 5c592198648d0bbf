import { DAY, KIB, MIB, MINUTE, SECOND } from '../../shared/units.ts';

/** The limits of the bridge's side of the socket. */
export const LINK_LIMITS = {
  /** Between two pings, which the runtime answers without waking the object. */
  pingMs: 25 * SECOND,
  /** The first wait before a new connection, and the longest. It doubles, with jitter. */
  backoffMinMs: 250,
  backoffMaxMs: 15 * SECOND,
  /** How long a bridge waits whose place another process took, before it tries once more. */
  replacedMs: MINUTE,
  /** A second process that comes back within this time is no accident: the bridge leaves it the place. */
  replacedOnceMs: DAY,
  /** A connection that lives this long after its welcome was good: the waits start over. */
  steadyMs: SECOND,
  /**
   * The time for an answer to the handshake, and then to the hello; without one the attempt fails. Each takes a few
   * round trips. Each failure doubles the time: a half-open line costs little, and a slow server answers in the end.
   */
  answerMinMs: 2.5 * SECOND,
  answerMaxMs: 10 * SECOND,
  /** The time for the look at the machine before a hello. Its parts have shorter ones; a disk may answer none of them. */
  lookMs: MINUTE,
  /** UTF-16 units of live output on the way at once. More is dropped: the result has the text. */
  outputCredit: 256 * KIB,
} as const;

/** The journal of calls. */
export const JOURNAL_LIMITS = {
  /** Bytes at which the journal of calls is rewritten without the acked calls: a write of some 20 ms. */
  compactJournalBytes: 4 * MIB,
  /** A journal with more unacked bytes is rewritten only at a bridge's start: it would block a working bridge. */
  maxCompactedBytes: MIB,
  /** A journal of more bytes takes only acks: no server leaves this much unacked. A start reads it within seconds. */
  maxJournalBytes: 256 * MIB,
} as const;
