import { afterEach, expect, it, vi } from 'vitest';
import type { ChatResponse, ConversationView } from '../../../shared/documents.ts';
import { call, errorOf, scriptModel } from '../api.ts';
import { connectBridge } from '../tunnel/scripted-bridge.ts';

afterEach(() => vi.restoreAllMocks());

it('ties a new conversation to the bridge of its account that connected last, and to no other', async () => {
  scriptModel(() => ({ text: 'ok' }));
  const ada = `ada-${crypto.randomUUID()}`;
  const eve = `eve-${crypto.randomUUID()}`;
  expect(await bridgeOfNew(ada)).toBeNull();
  await connectBridge({ account: ada });
  await new Promise((resolve) => setTimeout(resolve, 2));
  const second = await connectBridge({ account: ada });
  await vi.waitFor(async () => expect(await bridgeOfNew(ada)).toBe(second.bridgeId));
  expect(await bridgeOfNew(eve)).toBeNull();
});

it('refuses to move a conversation to another bridge, and takes the one that it has', async () => {
  scriptModel(() => ({ text: 'ok' }));
  const account = `ada-${crypto.randomUUID()}`;
  const own = await connectBridge({ account });
  const other = await connectBridge({ account });
  const say = async (bridgeId: string, conversationId?: string) => {
    const body = { messages: [{ role: 'user', content: 'hi' }], bridgeId, conversationId };
    return await call('chat/completions', { account, body });
  };
  const { conversationId } = (await (await say(own.bridgeId)).json()) as ChatResponse;
  expect(await errorOf(await say(other.bridgeId, conversationId))).toMatchObject({
    status: 400,
    code: 'INVALID_REQUEST',
    message: `bridgeId: this conversation keeps the bridge it began with, ${own.bridgeId}: leave the field out, or begin a new conversation`,
  });
  expect((await say(own.bridgeId, conversationId)).status).toBe(200);
});

async function bridgeOfNew(account: string): Promise<string | null> {
  const body = { messages: [{ role: 'user', content: 'hi' }] };
  const response = await call('chat/completions', { account, body });
  const { conversationId } = (await response.json()) as ChatResponse;
  const view = await call(`conversations/${conversationId}`, { account });
  return ((await view.json()) as ConversationView).bridgeId;
}
