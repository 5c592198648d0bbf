/** The limits of background runs. */

const SECOND = 1000;

export const STATUS_LIMITS = {
  /** UTF-16 units of the model's last words that an agent shows: a report of several pages. */
  maxResultChars: 20_000,
  /** The wait before the account is told again of a status that it did not take: a restart takes some seconds. */
  tellAgainMs: 30 * SECOND,
} as const;
