/** The id of a conversation that a request with an idempotency key begins. */
import { newConversationId } from '../ids.ts';
import { sha256 } from '../text/sha256.ts';

/** The conversation of a key, known beforehand. No UUID of version 4: no client can choose it for its own. */
export async function conversationIdOf(account: string, key: string): Promise<string> {
  const hex = await sha256(`${account}\n${key}`);
  const parts = [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20)];
  const uuid = [...parts, hex.slice(20, 32)].join('-');
  return newConversationId(uuid.replace(/-4(...-[89ab])/, '-8$1'));
}
