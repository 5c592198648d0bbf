/** `conversations/{id}/send-whole`: a person has what model servers refused sent to them again. */

import type { Endpoint } from '../endpoint.ts';
import { conversationOf } from '../objects.ts';
import { unwrap } from '../outcome.ts';
import { reach } from '../reach.ts';
import { CONVERSATION_PARAMS, CONVERSATIONS, callerOf } from './path.ts';

/** The endpoint of this file. */
export const SEND_WHOLE: readonly Endpoint[] = [
  {
    id: 'sendWhole',
    needs: 'chat',
    method: 'post',
    path: `${CONVERSATIONS}/{id}/send-whole`,
    tag: 'Conversations',
    access: 'user',
    summary: 'Send refused parts again',
    description:
      'Forgets which parts of the conversation model servers have refused (documents `LEFT_OUT`): the next request to a model has all of them again.',
    params: CONVERSATION_PARAMS,
    answers: [{ status: 204, description: 'Nothing is left out any more.' }],
    handle: async (c) => {
      const caller = callerOf(c);
      unwrap(await reach(() => conversationOf(c.env, caller).sendWhole(caller)));
      return c.body(null, 204);
    },
  },
];
