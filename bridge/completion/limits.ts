/** The limits of completing mentions. */
import { MINUTE, SECOND } from '../../shared/units.ts';

export const COMPLETION_LIMITS = {
  /** How long a listing counts as new. A person types some characters a second, and each asks. */
  freshMs: 5 * SECOND,
  /** How long an unused listing stays in memory: that of a large workspace takes some 20 MB. */
  keptMs: MINUTE,
} as const;
