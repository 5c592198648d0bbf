import type { AppClient } from '../../client/index.ts';
import { isOver } from '../../shared/wire/fold.ts';

/** Stops what a conversation answers, and takes back what waits for its turn. */
export async function stopAnswers(client: AppClient, conversationId: string): Promise<void> {
  // What has not ended is always part of it.
  const { messages, responses } = await client.getConversation(conversationId, { limit: 1 });
  const over = new Set(responses.filter(({ status }) => isOver(status)).map(({ id }) => id));
  const ids = messages.map(({ responseId }) => responseId).filter((id) => !over.has(id));
  await Promise.all([...new Set(ids)].reverse().map((id) => client.cancel(id)));
}
