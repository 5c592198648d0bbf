/** The limits of a request to a model. */
import { DAY, KIB, MIB, MINUTE, SECOND } from '../../shared/units.ts';

/** Talking to the model. */
export const UPSTREAM_LIMITS = {
  /** Attempts of one turn with one model while nothing of the answer was shown. */
  maxAttempts: 3,
  /** The longest wait that a server may ask for. Where it asks for more, the answer fails at once and says until when. */
  maxRetryAfterMs: 60 * SECOND,
  /** The longest wait that is shown: servers of a month's quota name its end. */
  maxShownWaitMs: 366 * DAY,
  /** If the upstream asks for a longer wait than this, a fallback answers, if there is one. */
  patienceMs: 5 * SECOND,
  /** First back-off; doubled for each attempt, with jitter. */
  backoffMs: 500,
  /** From the request to the first data event. */
  firstByteMs: 60 * SECOND,
  /** Between two data events; comments do not count. */
  stallMs: 45 * SECOND,
  /** Interval of the checks for `firstByteMs` and `stallMs`. */
  stallTickMs: 5 * SECOND,
  /** From the request to the end of the answer, even one that never stalls. Reasoning models take up to 15 minutes. */
  maxAnswerMs: 30 * MINUTE,
  /** Bytes of a stream, unpacked: 128k tokens of some 500 bytes each make 64 MiB. */
  maxStreamBytes: 128 * MIB,
  /** UTF-16 units of all that is kept of an answer: 128k tokens make less than 1 MiB. */
  maxAnswerChars: 4 * MIB,
  /** Blocks (Anthropic) or items (OpenAI) of an answer. Long answers have some hundred, and each takes memory. */
  maxBlocks: 10_000,
  /** The most tokens that a server may report of one answer: beyond any window, and exact in the sums of a day. */
  maxTokens: 1_000_000_000,
  /** UTF-16 units that each piece of a call counts at least: even an empty piece takes memory. */
  minPieceChars: 16,
  /** UTF-16 units of one event of the stream. */
  maxEventChars: 8 * MIB,
  /** UTF-16 units of a body that is not a stream: an error, or a whole completion. */
  maxBodyChars: 4 * MIB,
  /** The longest answer that Anthropic is asked for by default, in tokens: every model since Claude 3.5 allows it. */
  answerTokens: 8_192,
  /** The same where the model thinks as much as it wants, which counts too: all such models allow twice as much. */
  adaptiveTokens: 32_000,
  /** Models of which is remembered what their servers refused. */
  maxKnownModels: 1_000,
  /** UTF-16 units of an upstream's error message that are passed on. */
  maxErrorChars: 500,
  /** UTF-16 units of all that an error says, which are read for what it is about. */
  maxErrorWords: 8_000,
  /** Settings of one request that are changed one after the other because its server refuses them. */
  maxConcessions: 8,
  /** How long what a server refuses is remembered. */
  learnedMs: DAY,
  /** Levels of an error's JSON that are searched for its message: the deepest seen is three. */
  maxErrorDepth: 4,
} as const;

/** Reads of an answer's body. */
export const READ_LIMITS = {
  /** Bytes of the one buffer that all reads of a body share. */
  bufferBytes: 16 * KIB,
  /** The most bytes that a read waits for: some twenty tokens, which a model that has become slow writes in a few seconds. */
  maxLeastBytes: 4 * KIB,
} as const;
