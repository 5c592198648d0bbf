/** `chat/completions`: a message in, a response out, as JSON or as a stream that can be taken up again. */
import type { Context } from 'hono';
import { Hono } from 'hono';
import type { ChatResponse } from '../../shared/documents.ts';
import { DrawbridgeError } from '../../shared/errors.ts';
import { newConversationId, parseResponseId, ResponseId } from '../../shared/ids.ts';
import { ChatRequest } from '../../shared/requests.ts';
import type { AppContext } from '../auth/caller.ts';
import type { Caller } from '../conversation/object.ts';
import type { Followed } from '../follow/attach.ts';
import { foldAnswer } from '../follow/fold-answer.ts';
import { followAsSse } from '../follow/sse-adapter.ts';
import { unwrap } from '../outcome.ts';
import { resolveModel } from '../upstream/models.ts';
import { conversationOf, cursorOf, eventsQuery } from './conversation.ts';
import { parseBody, parseId } from './parse.ts';

export const chat = new Hono<AppContext>()
  .post('/completions', async (c) => {
    const request = await parseBody(c, ChatRequest);
    const followed = await submit(c, request);
    const headers = {
      'Drawbridge-Conversation-Id': followed.caller.conversationId,
      'Drawbridge-Response-Id': followed.responseId ?? '',
    };
    if (wantsStream(c, request)) {
      const framing = request.stream_options?.framing ?? 'named';
      return await followAsSse(c.req.raw, c.env, { ...followed, framing, cursor: 0 }, headers);
    }
    return c.json(await foldAnswer(c.req.raw, c.env, followed), 200, headers);
  })
  .get('/completions/:id', async (c) => {
    const { caller, ordinal } = addressed(c);
    return c.json(unwrap(await conversationOf(c.env, caller).response(caller, ordinal)));
  })
  .get('/completions/:id/events', async (c) => {
    const { caller, responseId } = addressed(c);
    const { framing, after } = eventsQuery(c);
    return await followAsSse(c.req.raw, c.env, {
      caller,
      responseId,
      framing,
      cursor: cursorOf(c, after),
    });
  })
  .post('/completions/:id/cancel', async (c) => {
    const { caller, ordinal } = addressed(c);
    const { id, status } = unwrap<ChatResponse>(
      await conversationOf(c.env, caller).cancel(caller, ordinal),
    );
    return c.json({ id, status });
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

/** Logs the message in its conversation, which is made when none is named. */
async function submit(
  c: Context<AppContext>,
  request: ChatRequest,
): Promise<Pick<Followed, 'caller' | 'responseId'>> {
  const { mode, messages, tools, context, device, delivery } = request;
  const model = resolveModel(request.model, c.env);
  const create = request.conversationId
    ? null
    : { bridgeId: await chooseBridge(c, request.bridgeId) };
  const conversationId = request.conversationId ?? newConversationId(crypto.randomUUID());
  const caller = { account: c.var.caller.sub, conversationId };
  const { responseId } = unwrap(
    await conversationOf(c.env, caller).submit(caller, {
      request: { model, mode, messages, tools, context, createdMs: Date.now() },
      device,
      delivery,
      create,
    }),
  );
  return { caller, responseId };
}

/** The bridge a new conversation is tied to: the one asked for, which must be the account's, or the latest. */
async function chooseBridge(
  c: Context<AppContext>,
  asked: string | undefined,
): Promise<string | null> {
  const account = c.var.caller.sub;
  const { ACCOUNTS, TUNNELS } = c.env;
  if (asked === undefined) return await ACCOUNTS.get(ACCOUNTS.idFromName(account)).defaultBridge();
  if (await TUNNELS.get(TUNNELS.idFromName(asked)).describe(account)) return asked;
  throw new DrawbridgeError('NOT_FOUND', 'bridgeId: there is no such bridge');
}

function wantsStream(c: Context<AppContext>, request: ChatRequest): boolean {
  return request.stream || (c.req.header('accept') ?? '').includes('text/event-stream');
}
