/** The limits of who may call, and how often. */

const SECOND = 1000;
const MINUTE = 60 * SECOND;

/** Tickets for streams. */
export const TICKET_LIMITS = {
  /** From its making until it must have been used: a page uses it at once. */
  lifeMs: MINUTE,
  /** A used one is remembered for this long after it has expired: more than clocks differ. */
  keptMs: MINUTE,
} as const;

/** How often one account may call, where the Worker's settings name no other number. */
export const RATE_LIMITS = {
  /** Requests of any kind a minute: a busy client with many open conversations makes a few a second. */
  requestsPerMinute: 1_200,
  /** Runs a minute: far more than people start, and enough for a script. */
  runsPerMinute: 120,
  /** Counters in one isolate's memory: about 10 MB. */
  maxBuckets: 100_000,
} as const;

/** Who may call. */
export const AUTH_LIMITS = {
  /** Tokens in one isolate's memory: about 1 MB. */
  maxVerifiedTokens: 1_000,
} as const;
