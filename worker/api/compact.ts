/** `conversations/{id}/compact`: a person has the conversation summarised before it outgrows its model. */

import { CompactRequest } from '../../shared/api/requests.ts';
import { SUBMIT_ERRORS } from '../desk/accept.ts';
import { parseBody } from '../desk/parse.ts';
import { type Endpoint, IDEMPOTENCY_KEY } from '../endpoint.ts';
import { ANSWERED, answer } from './chat.ts';
import { CONVERSATION_PARAMS, CONVERSATIONS, callerOf } from './path.ts';

/** The endpoint of this file. */
export const COMPACT: readonly Endpoint[] = [
  {
    id: 'compact',
    needs: 'chat',
    method: 'post',
    path: `${CONVERSATIONS}/{id}/compact`,
    tag: 'Conversations',
    access: 'user',
    summary: 'Summarise a conversation',
    description:
      'Begins a response for which the model summarises what was said so far: later requests to the model have the summary in its place. Nothing is deleted. Without a summary the response ends as `error`, and the model gets everything as before. Refused with `CONVERSATION_BUSY` while the conversation answers another message.',
    rate: 'run',
    headers: [IDEMPOTENCY_KEY],
    params: CONVERSATION_PARAMS,
    body: { schema: CompactRequest, example: { stream: true } },
    answers: [ANSWERED],
    errors: SUBMIT_ERRORS,
    handle: async (c) => {
      const { conversationId } = callerOf(c);
      const request = await parseBody(c, CompactRequest);
      const messages = [{ role: 'user' as const, content: 'Summarise the conversation so far.' }];
      const message = { messages, conversationId, delivery: 'reject' as const };
      const errand = { type: 'compact', compact: true } as const;
      return await answer(c, { ...request, ...message }, errand);
    },
  },
];
