import { SELF } from 'cloudflare:test';
import { expect, it } from 'vitest';
import type { ChatResponse, ConversationView } from '../../../shared/wire/documents.ts';
import { call, errorOf, scriptModel, standsAt, tokenFor } from '../api.ts';
import { connectBridge } from '../tunnel/scripted-bridge.ts';

it('ties a new conversation to the only bridge of its account, and to none where there are several', async () => {
  scriptModel(() => ({ text: 'ok' }));
  const ada = `ada-${crypto.randomUUID()}`;
  const eve = `eve-${crypto.randomUUID()}`;
  expect(await bridgeOfNew(ada)).toBeNull();
  const first = await connectBridge({ account: ada });
  standsAt.clear();
  expect(await bridgeOfNew(ada)).toBe(first.bridgeId);
  const second = await connectBridge({ account: ada });
  standsAt.clear();
  const say = async (more = {}, claims: Record<string, unknown> = { scope: 'user' }) => {
    const body = { messages: [{ role: 'user', content: 'hi' }], ...more };
    const authorization = `Bearer ${await tokenFor({ account: ada, claims })}`;
    return await call('chat/completions', { body, headers: { authorization } });
  };
  const bridgeOf = async (answer: Response) =>
    (
      (await (
        await call(`conversations/${((await answer.json()) as ChatResponse).conversationId}`, {
          account: ada,
        })
      ).json()) as ConversationView
    ).bridgeId;
  for (const bridge of [first, second]) {
    // A reconnection chooses nothing.
    await connectBridge({ account: ada, bridgeId: bridge.bridgeId });
    standsAt.clear();
    expect(await errorOf(await say())).toEqual({
      status: 400,
      code: 'BRIDGE_NOT_NAMED',
      message:
        'bridgeId: this account has several bridges: name one, or use a token that names one, such as `drawbridge token` prints in the folder of a bridge',
    });
    const { bridgeId } = bridge;
    expect(await bridgeOf(await say({ bridgeId }))).toBe(bridgeId);
    expect(await bridgeOf(await say({}, { scope: 'user', bridge: bridgeId }))).toBe(bridgeId);
  }
  expect(await bridgeOfNew(eve)).toBeNull();
});

it('/v1 and a follow-up run where the token stands, or not at all', async () => {
  scriptModel(() => ({ text: 'ok' }));
  const account = `ada-${crypto.randomUUID()}`;
  const [one, two] = [await connectBridge({ account }), await connectBridge({ account })];
  const standingAt = async (bridge: string) => ({
    authorization: `Bearer ${await tokenFor({ account, claims: { scope: 'user', bridge } })}`,
  });
  const messages = [{ role: 'user', content: 'hi' }];
  const completed = await SELF.fetch('https://drawbridge.test/v1/chat/completions', {
    method: 'POST',
    headers: await standingAt(one.bridgeId),
    body: JSON.stringify({ messages, store: true }),
  });
  const conversationId = completed.headers.get('Drawbridge-Conversation-Id') ?? '';
  const view = await call(`conversations/${conversationId}`, { account });
  expect(await view.json()).toMatchObject({ bridgeId: one.bridgeId });
  const followUp = async (bridge: string) =>
    await call('chat/completions', {
      headers: await standingAt(bridge),
      body: { messages, conversationId },
    });
  expect((await followUp(one.bridgeId)).status).toBe(200);
  expect(await errorOf(await followUp(two.bridgeId))).toMatchObject({
    code: 'INVALID_REQUEST',
    message: `bridgeId: this conversation works at ${one.bridgeId}, and the token is for another folder: use one of that folder, or name the bridge`,
  });
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
