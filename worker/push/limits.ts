/** The limits of notifications. */
import { DAY, SECOND } from '../../shared/units.ts';

export const PUSH_SENDING = {
  /** How long a push service keeps a message for a device that is off: a question can wait over a night. */
  ttlSeconds: DAY / SECOND,
  /** How long an answer takes before its end is worth a notification: people look elsewhere by then. */
  longRunMs: 30 * SECOND,
  /** Characters of a `Topic` (RFC 8030, section 5.4). */
  topicChars: 32,
} as const;
