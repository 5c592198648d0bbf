/** The limits of webhooks. */
import { HOUR, MINUTE, SECOND } from '../../shared/units.ts';

export const DELIVERY_LIMITS = {
  /** The time for one attempt. A receiver stores the event and answers; it does its work afterwards. */
  attemptMs: 15 * SECOND,
  /** The waits before each attempt, as the Standard Webhooks advise: three days in all, a weekend included. */
  waitsMs: [
    0,
    5 * SECOND,
    5 * MINUTE,
    30 * MINUTE,
    2 * HOUR,
    5 * HOUR,
    10 * HOUR,
    14 * HOUR,
    20 * HOUR,
    24 * HOUR,
  ],
  /** The share of a wait that is added at random, so that the deliveries of an outage do not come at once. */
  jitter: 0.1,
  /** The longest `Retry-After` that is obeyed: the longest wait between two attempts. */
  maxRetryAfterMs: 24 * HOUR,
  /** Attempts of one agent under way: a receiver that never answers holds up as many. */
  maxAtOnce: 4,
  /** Deliveries that an agent keeps, ended or not. A run has some five; the oldest go first. */
  maxKept: 100,
} as const;
