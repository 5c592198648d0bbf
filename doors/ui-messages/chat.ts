/** Finds the conversation of a chat. No table knows it: ids are derived from the account and the chat's id. */
import { DrawbridgeError } from '../../shared/errors.ts';
import { ConversationId, parseResponseId, responseIdOf } from '../../shared/ids.ts';
import { conversationIdOf } from '../../shared/wire/derived-id.ts';
import type { ApiDesk, Begun, Ordinals } from '../../worker/door.ts';
import { UI_LIMITS } from './limits.ts';
import type { UiChatRequest } from './request.ts';

/** Where a message goes: into a conversation that exists, or into a new one with `newId`. */
export type ChatPlace =
  | { readonly conversationId: string; readonly newId?: never }
  | { readonly conversationId?: never; readonly newId: string };

/**
 * After the newest answer the chat goes on in its conversation. After an earlier one, or one of another chat, it goes on
 * in a fork; without an answer it begins anew. Only a chat that has the id of a conversation goes on there, too, if its
 * messages have no answer.
 * @throws {DrawbridgeError} NOT_FOUND for an answer that was deleted, or is of another account.
 */
export async function placeOf(desk: ApiDesk, request: UiChatRequest): Promise<ChatPlace> {
  const { id, previous, trigger, messageId } = request;
  const known = await conversationsOf(desk, id);
  const last = known.at(-1);
  const isNamed = ConversationId.safeParse(id).success;
  const isMore = isNamed && trigger === 'submit-message' && messageId == null;
  if (previous === null && isMore && last) return { conversationId: last.conversationId };
  await endIn(desk, known);
  if (previous === null) return { newId: await nextIdOf(desk, id, known) };
  const { conversationId: from, ordinal } = parseResponseId(previous);
  const own = known.find(({ conversationId }) => conversationId === from);
  if (own?.newest === ordinal) return { conversationId: from };
  const newId = await nextIdOf(desk, id, known);
  return { conversationId: await desk.fork({ from, ordinal }, newId) };
}

/** Ends what still runs: a person who writes behind another answer has stopped it, and has one chat. */
async function endIn(desk: ApiDesk, known: readonly KnownConversation[]): Promise<void> {
  const running = known.flatMap((each) => begunIn(desk, each) ?? []);
  await Promise.all(running.map((begun) => desk.cancel(begun)));
}

/** A response of the chat that has not ended, in the newest of its conversations that has one; null without one. */
export async function unfinishedOf(desk: ApiDesk, chatId: string): Promise<Begun | null> {
  const known = await conversationsOf(desk, chatId);
  const found = known.findLast(({ open }) => open !== null);
  return found ? begunIn(desk, found) : null;
}

function begunIn(desk: ApiDesk, { conversationId, open }: KnownConversation): Begun | null {
  if (open === null) return null;
  const responseId = responseIdOf(conversationId, open);
  return { caller: desk.callerOf(conversationId), responseId };
}

interface KnownConversation extends Ordinals {
  readonly conversationId: string;
}

/** The chat's conversations: the first one and its forks, in order. @throws NOT_FOUND for another's conversation. */
async function conversationsOf(desk: ApiDesk, chatId: string): Promise<KnownConversation[]> {
  const known: KnownConversation[] = [];
  while (known.length < UI_LIMITS.maxForks) {
    const conversationId = await idOf(desk, chatId, known.length);
    const found = await desk.ordinals(conversationId);
    if (found.ok) known.push({ conversationId, ...found.value });
    else if (found.code === 'NOT_FOUND') break;
    else known.push({ conversationId, newest: 0, open: null }); // Its text is deleted.
  }
  if (known.length > 0 || !ConversationId.safeParse(chatId).success) return known;
  throw new DrawbridgeError('NOT_FOUND', 'There is no such conversation');
}

/** The id of the conversation after the `known` ones. */
async function nextIdOf(desk: ApiDesk, chatId: string, known: readonly object[]): Promise<string> {
  if (known.length < UI_LIMITS.maxForks) return await idOf(desk, chatId, known.length);
  throw new DrawbridgeError('CONVERSATION_FULL', 'The chat has too many forks: begin a new one');
}

async function idOf({ account }: ApiDesk, chatId: string, number: number): Promise<string> {
  if (number === 0 && ConversationId.safeParse(chatId).success) return chatId;
  return await conversationIdOf(account, `ui-chat\n${chatId}\n${number}`);
}
