/** Deletes a conversation, also one whose storage is damaged. */
import { DrawbridgeError } from '../../shared/errors.ts';
import type { Env } from '../env.ts';
import { logEvent } from '../health/log.ts';
import { accountOf, conversationOf } from '../objects.ts';
import { type Outcome, unwrap } from '../outcome.ts';
import type { Caller } from '../ports/conversation.ts';
import { reach, unlessReset } from '../reach.ts';

/** Ends the current run first. Throws NOT_FOUND, DAMAGED, and UNAVAILABLE. */
export async function deleteConversation(env: Env, caller: Caller): Promise<void> {
  const deleted = await conversationOf(env, caller)
    .delete(caller)
    .catch((error: Error) => notErased(caller, error));
  // Also if the conversation does not exist: a second delete repairs a list that missed the first one.
  await reach<void>(() =>
    accountOf(env, caller.account).forget(caller.conversationId, caller.session),
  );
  unwrap(deleted);
}

/** The refusal if the runtime cannot start the object because its file is damaged. Throws UNAVAILABLE for a restart. */
function notErased(
  { account, conversationId: conversation, trace }: Caller,
  error: Error,
): Outcome<void> {
  const thrown = unlessReset(error);
  const isPassing = thrown instanceof DrawbridgeError && thrown.code !== 'DAMAGED';
  if (isPassing) throw thrown; // A restart: the client can try again.
  logEvent('delete_failed', { trace, account, conversation, error });
  const message =
    'What is stored of this conversation is damaged, so it could not be erased. It is off your list. ' +
    'The operator can remove its file.';
  return { ok: false, code: 'DAMAGED', message };
}
