/** The limits of the ways in. */
import { MINUTE } from '../../shared/units.ts';

export const ENTRY_LIMITS = {
  /** Invitations of one account that wait: more people and devices than anybody invites in two days. */
  maxInvitations: 100,
  /** Logins of the whole server that wait for a person. Strangers can begin them, so their rows are bounded. */
  maxLogins: 1_000,
  /** Codes of logins that one account may look up in `guessesMs`: some typing errors. */
  maxGuesses: 20,
  guessesMs: 10 * MINUTE,
} as const;
