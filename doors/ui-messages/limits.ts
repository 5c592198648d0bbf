/** The limits of the AI SDK's UI message stream. */
import { REQUEST_LIMITS } from '../../shared/limits.ts';
import { KIB, MIB, SECOND } from '../../shared/units.ts';

export const UI_LIMITS = {
  /** Code points of one piece of a text without a blank: a word, or some syllables of a script without blanks. */
  pieceChars: 16,
  /** How long a run goes on without its reader: a reload is back by then, and "stop" takes that long. */
  graceMs: 6 * SECOND,
  /** How long a stopped resume waits for another one on its socket: React's StrictMode resumes twice at once. */
  resumedStopMs: SECOND,
  /** Forks of one chat, at which each request looks. */
  maxForks: 100,
  /** UTF-16 units of the ids of chats, messages and requests. The SDK's own have 16. */
  maxIdChars: 200,
  /** UTF-16 units of a frame that is parsed before its token is known to be valid: a first message. */
  maxStrangerChars: 64 * KIB,
  /** Frames on a socket that wait until the first of them is known to have a valid token: a page resumes twice. */
  maxHeldFrames: 8,
  /** A socket without a request for this long after it was opened is closed: it needs no token before. */
  firstFrameMs: 15 * SECOND,
} as const;

/** The SDK sends the whole chat each time, with all documents. The part that is new is bounded like any message. */
export const UI_BODY_LIMITS = { ...REQUEST_LIMITS, maxBodyBytes: 4 * MIB } as const;
