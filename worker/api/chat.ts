/** `chat/completions`: a message in, a response out, as JSON or as a stream that can be taken up again. */
import type { Context } from 'hono';
import { Hono } from 'hono/tiny';
import { parseResponseId, ResponseId } from '../../shared/ids.ts';
import { toPlain } from '../../shared/plain-documents.ts';
import { ChatRequest, IdempotencyKey, MessagePatch, PlanRequest } from '../../shared/requests.ts';
import { readWhole } from '../conversation/reading/requests.ts';
import { parse, parseBody, parseId } from '../desk/parse.ts';
import { submitMessage } from '../desk/submit.ts';
import { foldAnswer } from '../follow/fold-answer.ts';
import { follow } from '../follow/follow.ts';
import { followAsSse } from '../follow/sse-adapter.ts';
import { conversationOf } from '../objects.ts';
import { unwrap } from '../outcome.ts';
import type { AppContext } from '../people/caller.ts';
import type { Caller } from '../ports.ts';
import { reach } from '../reach.ts';
import { cursorOf, eventsQuery } from './conversation.ts';

export const chat = new Hono<AppContext>()
  .post('/completions', async (c) => await answer(c, await parseBody(c, ChatRequest)))
  .post('/plan', async (c) => await answer(c, await parseBody(c, PlanRequest)))
  .get('/completions/:id', async (c) => {
    const { caller, ordinal } = addressed(c);
    return await readWhole(c.env, { caller, ordinal });
  })
  .patch('/completions/:id', async (c) => {
    const { caller, ordinal } = addressed(c);
    const { content } = await parseBody(c, MessagePatch);
    return c.json(unwrap(await conversationOf(c.env, caller).edit(caller, ordinal, content)));
  })
  .get('/completions/:id/events', async (c) => {
    const { caller, responseId } = addressed(c);
    const { framing, after } = eventsQuery(c);
    return await follow(c.req.raw, c.env, {
      caller,
      responseId,
      framing,
      cursor: cursorOf(c, after),
    });
  })
  .post('/completions/:id/cancel', async (c) => {
    const { caller, ordinal } = addressed(c);
    const cancel = () => conversationOf(c.env, caller).cancel(caller, ordinal);
    return c.json(unwrap(await reach(cancel)));
  });

/** Which response the path names, and for whom. */
function addressed(c: Context<AppContext>): {
  caller: Caller;
  responseId: string;
  ordinal: number;
} {
  const responseId = parseId(ResponseId, c.req.param('id') ?? '', 'response');
  const { conversationId, ordinal } = parseResponseId(responseId);
  return { caller: { account: c.var.caller.sub, conversationId }, responseId, ordinal };
}

async function answer(c: Context<AppContext>, request: ChatRequest): Promise<Response> {
  const key = c.req.header('idempotency-key');
  const submitted = await submitMessage(c.env, {
    account: c.var.caller.sub,
    request,
    idempotencyKey: key === undefined ? undefined : parse(IdempotencyKey, key),
  });
  const headers = {
    'Drawbridge-Conversation-Id': submitted.caller.conversationId,
    'Drawbridge-Response-Id': submitted.responseId,
  };
  const isPlain = request.documents === 'plain';
  if (!wantsStream(c, request)) {
    const response = await foldAnswer(c.req.raw.signal, c.env, submitted, true);
    return c.json(isPlain ? toPlain(response) : response, 200, headers);
  }
  const framing = request.stream_options?.framing ?? (isPlain ? 'data' : 'named');
  return await followAsSse(c.req.raw, c.env, { ...submitted, framing, cursor: 0 }, headers);
}

function wantsStream(c: Context<AppContext>, request: ChatRequest): boolean {
  return request.stream || (c.req.header('accept') ?? '').includes('text/event-stream');
}
