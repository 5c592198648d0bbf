/** Sends a person's answer to an approval to the bridge, and hears whether the bridge refuses it. */
import { DrawbridgeError } from '../../shared/errors.ts';
import { RUN_LIMITS } from '../../shared/limits.ts';
import type { ApprovalRequest } from '../../shared/requests.ts';
import type { Env } from '../env.ts';
import { conversationOf, tunnelOf } from '../objects.ts';
import { unwrap } from '../outcome.ts';
import type { AnswerState, Caller } from '../ports.ts';
import { reach } from '../reach.ts';

/**
 * Returns when the answer counted, or when the bridge has not refused it in time. It is kept until
 * then, so a bridge that is away gets it later.
 * @throws {DrawbridgeError} APPROVAL_REFUSED for an answer that the bridge says does not count.
 */
export async function answerApproval(
  env: Env,
  caller: Caller,
  callId: string,
  answer: ApprovalRequest,
): Promise<void> {
  const bridgeId = unwrap(await conversationOf(env, caller).answerApproval(caller, callId, answer));
  const { nonce } = answer;
  const ask = () => tunnelOf(env, bridgeId).answerState(caller.account, { callId, nonce });
  // The answer is stored: a tunnel that cannot be reached now does not undo it.
  const message = await refusalIn(() => reach<AnswerState>(ask)).catch(() => undefined);
  if (message === undefined) return;
  throw new DrawbridgeError(
    'APPROVAL_REFUSED',
    `The bridge refused this answer, and the call still waits for one: ${message}`,
  );
}

/** Why the bridge refuses the answer; undefined where it does not, or not in time. */
async function refusalIn(ask: () => Promise<AnswerState>): Promise<string | undefined> {
  const { refusalMs, refusalPollMs, maxRefusalPollMs } = RUN_LIMITS;
  let pollMs: number = refusalPollMs;
  for (let waitedMs = 0; waitedMs < refusalMs; waitedMs += pollMs) {
    const answer = await ask();
    if (answer.state === 'refused') return answer.message;
    if (answer.state === 'over' || !answer.connected) return undefined;
    if (waitedMs > 0) pollMs = Math.min(pollMs * 2, maxRefusalPollMs);
    await new Promise((resolve) => setTimeout(resolve, pollMs));
  }
  return undefined;
}
