/** The path of a conversation, and the conversation that a path names. */
import type { Context } from 'hono';
import { ConversationId } from '../../shared/ids.ts';
import { type AppContext, personOf } from '../account/caller.ts';
import { parseId } from '../desk/parse.ts';
import type { Caller } from '../ports/conversation.ts';

/** The path of the list of conversations. */
export const CONVERSATIONS = '/api/v1/conversations';

/** For a path with one `{id}`, which {@link callerOf} reads. */
export const CONVERSATION_PARAMS = {
  id: { description: 'A conversation.', zod: ConversationId },
} as const;

/** The conversation that the path names, and its caller. Throws NOT_FOUND for a malformed id. */
export function callerOf(c: Context<AppContext>): Caller {
  const conversationId = parseId(ConversationId, c.req.param('id'), 'conversation');
  return { ...personOf(c), conversationId };
}
