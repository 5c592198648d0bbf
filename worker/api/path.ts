/** Paths below a conversation, and the conversation that they name. */
import type { Context } from 'hono';
import { ConversationId } from '../../shared/ids.ts';
import { parseId } from '../desk/parse.ts';
import type { AppContext } from '../people/caller.ts';
import type { Caller } from '../ports.ts';

/** The path of the list. */
export const CONVERSATIONS = '/api/v1/conversations';

/** For a path with one `{id}`, which {@link callerOf} reads. */
export const CONVERSATION_PARAMS = {
  id: { description: 'A conversation.', zod: ConversationId },
} as const;

/** Which conversation the path names, and for whom. */
export function callerOf(c: Context<AppContext>): Caller {
  const conversationId = parseId(ConversationId, c.req.param('id'), 'conversation');
  return { account: c.var.caller.sub, conversationId };
}
