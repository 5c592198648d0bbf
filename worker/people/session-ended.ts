/** The refusal of everything that a session sends after its end. */
import { DrawbridgeError } from '../../shared/errors.ts';

/** A client forgets its key when it gets this. */
export function sessionEnded(): DrawbridgeError {
  return new DrawbridgeError('SESSION_ENDED', 'This session has ended: sign in again');
}
