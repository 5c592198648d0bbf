/** Ends the run of a client that has left and cannot come back to its answer. */
import { parseResponseId } from '../../shared/ids.ts';
import type { Env } from '../env.ts';
import { conversationOf } from '../objects.ts';
import type { Caller } from '../ports/conversation.ts';
import { inTime } from '../reach.ts';
import { FOLLOW_LIMITS } from './limits.ts';

/** A response of this caller. */
export interface Begun {
  readonly caller: Caller;
  readonly responseId: string;
}

/** Cancels a run, unless with `unlessFollowed` another reader follows it. Never throws: the run ends by itself. */
export async function cancelRun(
  env: Env,
  { caller, responseId }: Begun,
  { unlessFollowed = false } = {},
): Promise<void> {
  const { ordinal } = parseResponseId(responseId);
  const { maxReattaches, reattachMs } = FOLLOW_LIMITS;
  const endMs = Date.now() + maxReattaches * reattachMs;
  for (let tries = 0; tries < maxReattaches && Date.now() < endMs; tries++) {
    try {
      const cancel = conversationOf(env, caller).cancel(caller, ordinal, unlessFollowed);
      await inTime<unknown>(cancel);
      return;
    } catch {
      // The object is moving or restarting. Try again.
      await new Promise((resolve) => setTimeout(resolve, reattachMs));
    }
  }
}
