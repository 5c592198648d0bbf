/** The limits of background runs. */
import { SECOND } from '../../shared/units.ts';

/** Images of one prompt in Cursor's shape, as in Cursor's own API. */
export const MAX_IMAGES = 5;

/** What an agent shows. */
export const VIEW_LIMITS = {
  /** UTF-16 units of the model's last words: a report of several pages. */
  maxResultChars: 20_000,
} as const;

/** The status of an agent. */
export const STATUS_LIMITS = {
  /** The wait before the account is told again of a status that it did not take: a restart takes some seconds. */
  tellAgainMs: 30 * SECOND,
} as const;
