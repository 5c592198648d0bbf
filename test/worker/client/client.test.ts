import { SELF } from 'cloudflare:test';
import { expect, it } from 'vitest';
import { type Client, createClient } from '../../../client/index.ts';
import { foldConversation } from '../../../shared/wire/fold.ts';
import { scriptModel, tokenFor } from '../api.ts';

const hello = { messages: [{ role: 'user' as const, content: 'Hello' }] };

it('a Worker asks, streams, lists and exports', async () => {
  scriptModel(() => ({ text: 'Good day.' }));
  const client = await newClient();
  const response = await client.chat(hello);
  expect(response.documents).toMatchObject([{ type: 'text', content: 'Good day.' }]);

  const { id: conversationId } = await client.getConversation(response.conversationId);
  let text = '';
  for await (const { event } of client.streamChat({ ...hello, conversationId })) {
    if (event.type === 'content_delta') text += event.delta;
  }
  expect(text).toBe('Good day.');

  const { items } = await client.listConversations({ limit: 1, archived: false, search: 'hello' });
  expect(items).toMatchObject([{ id: conversationId, title: 'Hello' }]);
  expect((await client.exportConversation(conversationId)).conversation.responses).toHaveLength(2);
  expect(await client.exportMarkdown(conversationId)).toContain('Good day.');
});

it('a Worker follows a conversation, and hands a stream to somebody without a token', async () => {
  scriptModel(() => ({ text: 'Good day.' }));
  const client = await newClient();
  const { conversationId, id: responseId } = await client.chat(hello);
  const view = await client.getConversation(conversationId);
  const followed = { ...view, messages: [], responses: [] };
  for await (const { event } of client.followConversation(conversationId)) {
    foldConversation(followed, event);
    if (event.type === 'done') break;
  }
  expect(followed).toEqual(view);

  const { ticket } = await client.createTicket({ responseId });
  const path = `/api/v1/chat/completions/${responseId}/events?ticket=${ticket}`;
  const stream = await SELF.fetch(`https://drawbridge.test${path}`);
  expect(await stream.text()).toContain('event: done');
});

async function newClient(): Promise<Client> {
  const token = await tokenFor({ account: `worker-${crypto.randomUUID()}` });
  const url = 'https://drawbridge.test';
  return createClient({ url, token, fetch: (input, init) => SELF.fetch(input, init) });
}
