import { expect, it } from 'vitest';
import { lastConversation } from '../../../cli/target/own-bridge.ts';
import type { ConversationInfo } from '../../../client/index.ts';

const BRIDGE = 'bridge_3f1c1b9e-6a0d-4c1e-9d6b-3c2f5a7e0001';

/** A server with these conversations, the latest first; those of `elsewhere` are of another bridge. */
function serverWith(...items: (Pick<ConversationInfo, 'id' | 'agent'> & { elsewhere?: true })[]) {
  const bridgeOf = (id: string) => (items.find((item) => item.id === id)?.elsewhere ? 'x' : BRIDGE);
  return {
    listConversations: async () => ({ items, nextCursor: null }),
    getConversation: async (id: string) => ({ bridgeId: bridgeOf(id) }),
  } as unknown as Parameters<typeof lastConversation>[0];
}

it.each([{ bridgeId: BRIDGE }, {}])(
  'the last conversation is no background agent’s (%j)',
  async (at) => {
    const server = serverWith({ id: 'a', agent: 'completed' }, { id: 'b' }, { id: 'c' });
    expect(await lastConversation(server, at)).toBe('b');
  },
);

it('the last conversation is of this folder', async () => {
  const server = serverWith({ id: 'a', elsewhere: true }, { id: 'b' });
  expect(await lastConversation(server, { bridgeId: BRIDGE })).toBe('b');
  const agents = serverWith({ id: 'a', agent: 'running' });
  await expect(lastConversation(agents, { bridgeId: BRIDGE })).rejects.toThrow(/no conversation/);
});
