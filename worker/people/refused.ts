/** The refusals of everything that a session or an account sends, although its token is valid. */
import { DrawbridgeError } from '../../shared/errors.ts';
import type { Refused } from '../ports/account.ts';

/** A client forgets its key when it gets SESSION_ENDED: a suspension can be lifted, and says something else. */
export function refused(code: Refused): DrawbridgeError {
  return new DrawbridgeError(code, MESSAGES[code]);
}

const MESSAGES: Readonly<Record<Refused, string>> = {
  SESSION_ENDED: 'This session has ended: sign in again',
  ACCOUNT_SUSPENDED: 'The operator of this server has suspended this account',
  ACCOUNT_DELETED: 'The operator of this server has deleted this account',
};
