/** Takes a person's answers to approvals, which the bridge verifies, and to clarifications. */
import { ApprovalTaken, ClarificationTaken } from '../../shared/api/answers.ts';
import { ApprovalList } from '../../shared/api/listings.ts';
import { ApprovalRequest, ClarificationAnswer } from '../../shared/api/requests.ts';
import { DrawbridgeError } from '../../shared/errors.ts';
import { CallId, DocumentId } from '../../shared/ids.ts';
import { RUN_LIMITS } from '../../shared/limits.ts';
import { readDocument } from '../conversation/reading/requests.ts';
import { parseBody, parseId } from '../desk/parse.ts';
import { type Endpoint, jsonAnswer } from '../endpoint.ts';
import type { Env } from '../env.ts';
import { accountOf, conversationOf, tunnelOf } from '../objects.ts';
import { unwrap } from '../outcome.ts';
import type { Caller } from '../ports/conversation.ts';
import type { AnswerState } from '../ports/tunnel.ts';
import { reach } from '../reach.ts';
import { CONVERSATION_PARAMS, CONVERSATIONS, callerOf } from './path.ts';

const COMMON = { tag: 'Answers', access: 'user' } as const;

/** The endpoints of this file. */
export const ANSWERS: readonly Endpoint[] = [
  {
    ...COMMON,
    id: 'listApprovals',
    needs: 'read',
    method: 'get',
    path: '/api/v1/approvals',
    summary: 'List what waits for a person',
    description:
      'The calls that wait for approval, and the open questions, in all conversations of the account.',
    answers: [jsonAnswer(200, 'The whole list.', ApprovalList)],
    handle: async (c) => c.json(await listApprovals(c.env, c.var.caller.sub)),
  },
  {
    ...COMMON,
    id: 'answerApproval',
    needs: 'approve',
    method: 'post',
    path: `${CONVERSATIONS}/{id}/approvals/{callId}`,
    summary: 'Allow or reject a call',
    description:
      'Answers only the question with this nonce. An approval needs a signature over exactly what was shown, by a device that is enrolled at the bridge. A rejection needs no signature. The first answer counts. The bridge verifies the signature. If it refuses the answer within 5 seconds, the status is 403 `APPROVAL_REFUSED`, and the question stays open.',
    params: {
      ...CONVERSATION_PARAMS,
      callId: { description: 'The call that waits for approval.', zod: CallId },
    },
    body: {
      schema: ApprovalRequest,
      example: {
        nonce: 'q83vEjRWeJCrze8SNFZ4kKvN',
        decision: 'reject',
        message: 'Use the other folder.',
      },
    },
    answers: [
      jsonAnswer(
        200,
        'The answer counted, or the bridge has not refused it so far.',
        ApprovalTaken,
      ),
    ],
    errors: ['APPROVAL_NOT_SIGNED', 'APPROVAL_REFUSED', 'ALREADY_ANSWERED', 'SUPERSEDED'],
    handle: async (c) => {
      const caller = callerOf(c);
      const callId = parseId(CallId, c.req.param('callId'), 'call');
      const answer = await parseBody(c, ApprovalRequest);
      await answerApproval(c.env, caller, callId, answer);
      return c.json({ callId, decision: answer.decision });
    },
  },
  {
    ...COMMON,
    id: 'answerClarification',
    needs: 'chat',
    method: 'post',
    path: `${CONVERSATIONS}/{id}/clarifications/{documentId}`,
    summary: 'Answer questions',
    description: 'A question without an answer is skipped. The first answer counts.',
    params: {
      ...CONVERSATION_PARAMS,
      documentId: { description: 'The `clarification` that waits for answers.', zod: DocumentId },
    },
    body: {
      schema: ClarificationAnswer,
      example: { answers: [{ questionId: 'language', optionIds: ['german'] }] },
    },
    answers: [jsonAnswer(200, 'The run goes on.', ClarificationTaken)],
    errors: ['ALREADY_ANSWERED'],
    handle: async (c) => {
      const caller = callerOf(c);
      const documentId = parseId(DocumentId, c.req.param('documentId'), 'document');
      const answer = await parseBody(c, ClarificationAnswer);
      unwrap(await conversationOf(c.env, caller).answerClarification(caller, documentId, answer));
      return c.json({ documentId });
    },
  },
];

/** The account knows in which conversations something waits, and these know what it is. */
async function listApprovals(env: Env, account: string): Promise<ApprovalList> {
  const waiting = await reach(() => accountOf(env, account).waiting());
  const reads = waiting.map(async (conversationId) => {
    const answer = await readDocument(env, { account, conversationId }, { type: 'asks' });
    return answer.ok ? await answer.json<ApprovalList>() : NOTHING;
  });
  const found = await Promise.all(reads);
  return {
    items: found.flatMap(({ items }) => items),
    questions: found.flatMap(({ questions }) => questions),
  };
}

/** Of a conversation that was deleted meanwhile. */
const NOTHING: ApprovalList = { items: [], questions: [] };

/**
 * Sends the answer to the bridge. Returns when the answer counted, or when the bridge has not refused it within
 * `refusalMs`. The answer is stored, so a bridge that is offline gets it later.
 * @throws {DrawbridgeError} APPROVAL_REFUSED if the bridge refuses the answer.
 */
async function answerApproval(
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

/** Why the bridge refuses the answer; undefined if it does not, or not in time. */
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
