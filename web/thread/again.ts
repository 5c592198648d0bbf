/** Messages that are sent once more, with all that they were sent with. */
import type { ChatInput, PageClient, UserMessage } from '../../client/index.ts';
import type { MessageContent } from '../../shared/api/requests.ts';
import { go } from '../route.ts';
import type { PageAccount } from '../store/account.ts';
import type { ShownThread, ThreadHost } from '../store/thread-host.ts';

/** How a thread of the page sends again: the server has the images, and the answer names its mode and model. */
export function sendingAgain({
  client,
  outbox,
}: PageAccount): Pick<ThreadHost, 'again' | 'change' | 'fork'> {
  const show = (conversationId: string) => go({ at: 'conversation', id: conversationId });
  return {
    async again(thread, message) {
      const input = await inputOf(client, thread, message);
      await outbox.send({ ...input, conversationId: thread.id });
    },
    async change(thread, message, isWaiting) {
      const { responseId } = message;
      if (isWaiting) {
        await client.editMessage(responseId, { content: await contentOf(client, message) });
      } else {
        const input = await inputOf(client, thread, message);
        show((await client.sendMessage({ ...input, editOf: responseId })).conversationId);
      }
    },
    async fork(thread, responseId) {
      show((await client.forkConversation(thread.id, responseId)).conversationId);
    },
  };
}

async function inputOf(
  client: PageClient,
  thread: ShownThread,
  message: UserMessage,
): Promise<ChatInput> {
  const content = await contentOf(client, message);
  const answer = thread.view?.responses.find(({ id }) => id === message.responseId);
  return {
    messages: [{ role: 'user', content }],
    include: ['reasoning'],
    ...(answer && { mode: answer.ownMode ?? answer.mode, model: answer.model }),
  };
}

async function contentOf(
  client: PageClient,
  { content, responseId, imageCount }: UserMessage,
): Promise<MessageContent> {
  if (!imageCount) return content;
  const { items } = await client.getImages(responseId);
  const images = items.map((image) => ({ type: 'image_url' as const, image_url: image }));
  return [{ type: 'text', text: content }, ...images];
}
