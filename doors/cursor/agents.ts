/** The Worker's services for the routes of Cursor's shapes (doors/cursor/). */
import type { Context } from 'hono';
import {
  type AppContext,
  accountOf,
  archiveAgent,
  attachFirst,
  conversationOf,
  createAgent,
  type Delivered,
  deleteConversation,
  type Endpoint,
  followUp,
  leave,
  type Outcome,
  originOf,
  parse,
  parseBody,
  parseCursor,
  personOf,
  type ResponseUsage,
  reach,
  readAgent,
  readDocument,
  refusalOf,
  SseWriter,
  sentWith,
  stillAskedBy,
  streamDelivery,
  turnOf,
  unwrap,
} from '../../worker/door.ts';
import type { Core } from './core.ts';
import { CURSOR_ROUTES } from './routes.ts';

/** The endpoints of Cursor's shapes. */
export const CURSOR: readonly Endpoint[] = CURSOR_ROUTES.map((route) => ({
  ...route,
  handle: (c) => route.handle(c, coreOf(c)),
}));

function coreOf(c: Context<AppContext>): Core {
  const { env } = c;
  const callerOf = (conversationId: string) => ({ ...personOf(c), conversationId });
  return {
    account: c.var.caller.sub,
    origin: originOf(c),
    parse,
    readBody: (schema) => parseBody(c, schema),
    create: (request, newId) => createAgent(env, request, sentWith(c), newId),
    followUp: (id, request) => followUp(env, callerOf(id), request, sentWith(c)),
    read: (id) => readAgent(env, callerOf(id)),
    archive: (id, archived) => archiveAgent(env, callerOf(id), archived),
    async delete(id) {
      await readAgent(env, callerOf(id));
      using _ = await turnOf(c.var.caller.sub);
      await deleteConversation(env, callerOf(id));
    },
    async list({ limit, cursor, status }) {
      const after = cursor === undefined ? null : parseCursor(cursor);
      using _ = await turnOf(c.var.caller.sub);
      return await accountOf(env, c.var.caller.sub).agents(
        { limit, after, status },
        stillAskedBy(c),
      );
    },
    async usages(id) {
      const read = () => conversationOf(env, callerOf(id)).usages(callerOf(id));
      return unwrap<ResponseUsage[]>(await reach<Outcome<ResponseUsage[]>>(read));
    },
    async response(id, ordinal) {
      const response = await readDocument(env, callerOf(id), { type: 'response', ordinal });
      return response.ok ? await response.json() : null;
    },
    async responses(id, newest) {
      const part = await readDocument(env, callerOf(id), { type: 'newest', newest });
      return part.ok ? await part.json() : null;
    },
    cancel: async (id, ordinal) =>
      unwrap(await reach(() => conversationOf(env, callerOf(id)).cancel(callerOf(id), ordinal))),
    stream: (...asked) => stream(c, ...asked),
  };
}

/** A first attach at the client's position only asks the object whether it is one, and whether anything comes after. */
async function stream(
  c: Context<AppContext>,
  ...[conversationId, responseId, seen, open]: Parameters<Core['stream']>
): Promise<Response> {
  const { env, req } = c;
  const followed = { caller: { ...personOf(c), conversationId }, responseId };
  const attachAt = (cursor: number) =>
    attachFirst(env, followed, 'positioned', cursor, req.raw.signal);
  let first = await attachAt(seen);
  if (first.type === 'response' && !first.response.ok) throw await refusalOf(first.response);
  if (first.type === 'socket' && seen > 0) {
    await leave(first);
    first = await attachAt(0);
  }
  const writer = new SseWriter();
  const life = new AbortController();
  const delivery = open(
    (text) => writer.write(text),
    () => life.abort(),
  );
  const finish = (how: Delivered) => delivery.finish(how);
  return await streamDelivery(req.raw, env, { followed, first, delivery, writer, life, finish });
}
