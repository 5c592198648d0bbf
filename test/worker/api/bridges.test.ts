import { afterEach, expect, it, vi } from 'vitest';
import type { ChatResponse, ConversationView } from '../../../shared/documents.ts';
import { call, scriptModel } from '../api.ts';
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

async function bridgeOfNew(account: string): Promise<string | null> {
  const body = { messages: [{ role: 'user', content: 'hi' }] };
  const response = await call('chat/completions', { account, body });
  const { conversationId } = (await response.json()) as ChatResponse;
  const view = await call(`conversations/${conversationId}`, { account });
  return ((await view.json()) as ConversationView).bridgeId;
}
