/** The limits of tickets, tokens and request rates. */
import { KIB, MIB, MINUTE, SECOND } from '../../shared/units.ts';
import { MAX_TOKEN_DAYS } from '../../shared/wire/tokens.ts';

/** Tickets for streams. */
export const TICKET_LIMITS = {
  /** Until when a ticket must be used first: a page does so at once. */
  lifeMs: MINUTE,
  /**
   * For how long its reader may come back with it, from its making on: an EventSource always asks with the same address.
   * A stream is ended after ten minutes (follow/limits.ts), and a lost network comes again within some.
   */
  returnMs: 15 * MINUTE,
  /** How long a used ticket is remembered after that: more than clocks differ. */
  keptMs: MINUTE,
} as const;

/** The numbered changes of an account, for readers that follow it. */
export const CHANGE_LIMITS = {
  /** A reader that missed more reads its lists again, which is quicker. An object that wakes reads all these rows. */
  kept: 512,
} as const;

/** The usage of conversations that are not listed. */
export const UNLISTED_LIMITS = {
  /** How long it is remembered what is counted of them: longer than they report a response (usage-report.ts). */
  keptMs: 2 * 24 * 60 * MINUTE,
} as const;

/** The default rate limits of one account. */
export const RATE_LIMITS = {
  /** Requests a minute: a busy client with many open conversations makes a few a second. */
  requestsPerMinute: 1_200,
  /** Runs a minute: far more than people start, and enough for a script. */
  runsPerMinute: 120,
  /** Requests a minute without a token, from one address: many machines can share one. */
  strangersPerMinute: 120,
  /** Refused tokens a minute from one network: each client asks once with a token that has just ended. */
  refusedPerMinute: 300,
  /** Logins a minute that begin from one network: far fewer wait at once than the server keeps (directory/limits.ts). */
  loginsPerMinute: 12,
  /** Tokens a minute that one key makes: a page asks for one every ten minutes. */
  tokensPerMinute: 6_000,
  /** Counters in one isolate's memory: about 10 MB. */
  maxBuckets: 100_000,
} as const;

/** Heavy work: searches, lists, exports, forks, deletions and large messages, one of an account at a time. */
export const HEAVY_LIMITS = {
  /** Requests of one account that wait for their turn: an app has some at once, a script can have any number. */
  maxWaiting: 50,
  /** Bytes of a body from which on it is heavy: a quick machine parses and stores it in some milliseconds. */
  bodyBytes: 128 * KIB,
  /** How long its turn lasts for each byte: until it is stored, and the model asked. */
  bodyMsPerByte: 400 / MIB,
  /** The same for a character of its large images: until their conversation has taken them. */
  imageMsPerChar: 20 / MIB,
  /** After how long without a piece of the body its turn is given back: a phone sends for many seconds. */
  slowMs: 50,
  /** Between two looks of the next one in the line whether its turn has come. Those behind it look at each beat. */
  pollMs: 10,
  /** Between two turns of one account, at least and at most: as long as the first one took. Others come meanwhile. */
  restMs: 20,
  maxRestMs: 100,
  /** How often a request shows that it is alive, and after how long without that its client has left. */
  beatMs: 250,
  goneMs: SECOND,
  /** The `Retry-After` where too many wait: as long as some of them take. */
  retryAfterMs: 2 * SECOND,
} as const;

/** The limits of checking tokens. */
export const AUTH_LIMITS = {
  /** Tokens in one isolate's memory: about 1 MB. */
  maxVerifiedTokens: 1_000,
  /** How long a token may be valid. A day more than may be asked for: the clock that made it may be ahead. */
  maxTokenSeconds: (MAX_TOKEN_DAYS + 1) * 24 * 60 * 60,
} as const;

/** The sessions of one account. */
export const SESSION_KEEPING = {
  /** Sessions that have not ended: many machines and browsers of one person. */
  maxSessions: 200,
  /** How often it is noted that a session is used. */
  seenEveryMs: 60 * MINUTE,
  /** How long a used proof is remembered: as long as it could be used again, for any clock that is taken. */
  proofKeptMs: 5 * MINUTE,
  /** Proofs of one session within that time: many programs that start at once. */
  maxProofs: 200,
  /** Conversations whose readers are cut, one after the other, before it is noted how far that is. */
  cutAtOnce: 50,
  /** Conversations in progress that are cut before all others. */
  maxCutFirst: 1_000,
  /** Conversations that are deleted at a time: each takes some 25 ms of the one thread of a server of one's own. */
  deletedAtOnce: 1,
  /** How long an isolate trusts that a sender may go on, for requests that only read. */
  trustedMs: SECOND,
  /** Senders that an isolate remembers as alive: sessions, and accounts whose tokens have none. */
  maxTrusted: 1_000,
  /** How soon the cutting is tried again where it failed. */
  retryMs: 5 * SECOND,
  /** Attempts in a row before the objects that fail are passed over: longer than an object takes to restart. */
  maxCutTries: 6,
} as const;
