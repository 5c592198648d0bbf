/** `conversations/{id}/undo`: a person takes back what the agent changed in files. */

import { UndoRequest } from '../../shared/api/requests.ts';
import type { UndoFields } from '../../shared/wire/undo.ts';
import { SUBMIT_ERRORS } from '../desk/accept.ts';
import { parseBody } from '../desk/parse.ts';
import { type Endpoint, IDEMPOTENCY_KEY } from '../endpoint.ts';
import { ANSWERED, answer } from './chat.ts';
import { CONVERSATION_PARAMS, CONVERSATIONS, callerOf } from './path.ts';

/** The endpoint of this file. */
export const UNDO: readonly Endpoint[] = [
  {
    id: 'undo',
    needs: 'chat',
    method: 'post',
    path: `${CONVERSATIONS}/{id}/undo`,
    tag: 'Conversations',
    access: 'user',
    summary: 'Take back changes of files',
    description:
      'Begins a response that asks no model: the bridge takes back what the agent changed, or with `preview` only shows that. With the `digest` of a preview it does nothing else than that showed. `metadata.undo` of the `tool_call` has each file. Refused with `CONVERSATION_BUSY` while the conversation answers another message.',
    rate: 'run',
    headers: [IDEMPOTENCY_KEY],
    params: CONVERSATION_PARAMS,
    body: { schema: UndoRequest, example: { scope: 'last', preview: true } },
    answers: [ANSWERED],
    errors: SUBMIT_ERRORS,
    handle: async (c) => {
      const { conversationId } = callerOf(c);
      const { scope, id, digest, preview, ...request } = await parseBody(c, UndoRequest);
      const content = preview ? `Preview: ${WHAT[scope]}` : WHAT[scope];
      const messages = [{ role: 'user' as const, content }];
      const message = { messages, conversationId, delivery: 'reject' as const };
      const undo = { scope, id, digest, preview };
      return await answer(c, { ...request, ...message }, { type: 'undo', undo });
    },
  },
];

const WHAT: Readonly<Record<UndoFields['scope'], string>> = {
  last: 'Undo the newest changes of files.',
  call: 'Undo what one call changed in files.',
  response: 'Undo what one response changed in files.',
  since: 'Undo all changes of files since a message.',
  redo: 'Redo what the newest undo took back.',
};
