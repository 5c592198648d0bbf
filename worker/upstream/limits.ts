/** The limits of a request to a model. */

const KIB = 1024;
const MIB = 1024 * KIB;
const SECOND = 1000;
const MINUTE = 60 * SECOND;

/** Talking to the model. */
export const UPSTREAM_LIMITS = {
  /** Attempts of one turn with one model before its first byte was shown. */
  maxAttempts: 3,
  /** The longest wait that an upstream's Retry-After is obeyed. */
  maxRetryAfterMs: 60 * SECOND,
  /** Who is to wait longer than this is answered by a fallback instead, where there is one. */
  patienceMs: 5 * SECOND,
  /** First back-off; doubled for each attempt, with jitter. */
  backoffMs: 500,
  /** From the request to the first data event. */
  firstByteMs: 60 * SECOND,
  /** Between two data events; comments do not count. */
  stallMs: 45 * SECOND,
  /** How often that is looked at. */
  stallTickMs: 5 * SECOND,
  /** From the request to the end of its answer, however steadily it comes: reasoning models take up to a quarter hour. */
  maxAnswerMs: 30 * MINUTE,
  /** Bytes of a stream, unpacked: 128k tokens of some 500 bytes each make 64 MiB. */
  maxStreamBytes: 128 * MIB,
  /** UTF-16 units of all that is kept of an answer: 128k tokens make less than one. */
  maxAnswerChars: 4 * MIB,
  /** What each piece of a call is counted for at least: holding it costs memory even where it is empty. */
  minPieceChars: 16,
  /** Of one event of the stream, in UTF-16 units; more is not an answer. */
  maxEventChars: 8 * MIB,
  /** UTF-16 units of a body that is no stream: an error, or a whole completion. */
  maxBodyChars: 4 * MIB,
  /** UTF-16 units of an upstream's error message that are passed on. */
  maxErrorChars: 500,
  /** How deep in an error's JSON its message is looked for: the deepest seen is three. */
  maxErrorDepth: 4,
} as const;
