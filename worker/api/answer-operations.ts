/** What only a person can decide, and the tickets by which their devices look on. */
import { ApprovalTaken, ClarificationTaken } from '../../shared/answers.ts';
import { Ticket, TicketRequest } from '../../shared/conversations.ts';
import { CallId, DocumentId } from '../../shared/ids.ts';
import { ApprovalRequest, ClarificationAnswer } from '../../shared/requests.ts';
import { CONVERSATION_PARAMS, CONVERSATIONS } from './conversation-operations.ts';
import { CONVERSATION_ID } from './examples.ts';
import { jsonAnswer, type Operation } from './operation.ts';

export const ANSWER_OPERATIONS: readonly Operation[] = [
  {
    id: 'answerApproval',
    method: 'post',
    path: `${CONVERSATIONS}/{id}/approvals/{callId}`,
    tag: 'Answers',
    summary: 'Allow or reject a call',
    description:
      'Answers the question with this nonce, and no other. A yes counts only with a signature by a device that is enrolled at the bridge, over exactly what was shown; a rejection needs none. The first answer counts. The bridge verifies the signature; an answer that it refuses within 5 seconds is 403 `APPROVAL_REFUSED`, and the question stays open.',
    access: 'user',
    params: {
      ...CONVERSATION_PARAMS,
      callId: { description: 'The call that waits.', zod: CallId },
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
        'The answer counted, or waits for the bridge, which has not refused it so far.',
        ApprovalTaken,
      ),
    ],
    errors: [
      'NOT_FOUND',
      'APPROVAL_NOT_SIGNED',
      'APPROVAL_REFUSED',
      'ALREADY_ANSWERED',
      'SUPERSEDED',
    ],
  },
  {
    id: 'answerClarification',
    method: 'post',
    path: `${CONVERSATIONS}/{id}/clarifications/{documentId}`,
    tag: 'Answers',
    summary: 'Answer questions',
    description: 'A question without an answer is passed over. The first answer counts.',
    access: 'user',
    params: {
      ...CONVERSATION_PARAMS,
      documentId: { description: 'The `clarification` that waits.', zod: DocumentId },
    },
    body: {
      schema: ClarificationAnswer,
      example: { answers: [{ questionId: 'language', optionIds: ['german'] }] },
    },
    answers: [jsonAnswer(200, 'The run goes on.', ClarificationTaken)],
    errors: ['NOT_FOUND', 'ALREADY_ANSWERED'],
  },
  {
    id: 'createTicket',
    method: 'post',
    path: '/api/v1/tickets',
    tag: 'Conversations',
    summary: 'A ticket for one stream',
    description:
      'For `?ticket=` of an `events` path, where a reader such as a browser’s EventSource cannot send a token. It opens that stream once.',
    access: 'user',
    body: { schema: TicketRequest, example: { conversationId: CONVERSATION_ID } },
    answers: [jsonAnswer(201, 'The ticket.', Ticket)],
    errors: ['NOT_FOUND'],
  },
];
