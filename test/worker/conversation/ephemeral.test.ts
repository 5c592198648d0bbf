import { evictDurableObject, runDurableObjectAlarm } from 'cloudflare:test';
import { expect, it, vi } from 'vitest';
import { newConversationId, responseIdOf } from '../../../shared/ids.ts';
import { CONVERSATION_LIMITS } from '../../../shared/limits.ts';
import { SubagentState } from '../../../shared/wire/subagents.ts';
import { Tunnel } from '../../../worker/tunnel/object.ts';
import { call, errorOf, scriptModel } from '../api.ts';
import { SseReader } from '../follow/sse-reader.ts';
import { connectBridge } from '../tunnel/scripted-bridge.ts';
import {
  alarmOf,
  cancel,
  conversationObject,
  newAccount,
  readView,
  tablesOf,
} from './conversing.ts';
import { holdModel, runCommand } from './held-model.ts';
import { shiftClock } from './shifted-clock.ts';
import { scriptTree, taskCall } from './subagents/tree.ts';

it('a conversation for one answer is not listed, and deletes itself some time after it', async () => {
  const account = newAccount();
  scriptModel(() => ({ text: 'hi' }));
  const { conversationId, responseId } = await submitEphemeral(account);
  const path = `chat/completions/${responseId}`;
  await new SseReader(await call(`${path}/events`, { account })).toEnd();
  expect(await (await call('conversations', { account })).json()).toMatchObject({ items: [] });
  const patch = { method: 'PATCH', body: { title: 'kept' }, account };
  expect(await errorOf(await call(`conversations/${conversationId}`, patch))).toMatchObject({
    status: 404,
  });

  const stub = conversationObject(conversationId);
  expect(await runDurableObjectAlarm(stub)).toBe(true);
  expect((await call(path, { account })).status).toBe(200);
  const at = (await alarmOf(conversationId)) ?? 0;
  expect(Math.abs(at - Date.now() - CONVERSATION_LIMITS.ephemeralMs)).toBeLessThan(10_000);

  await evictDurableObject(stub);
  shiftClock(CONVERSATION_LIMITS.ephemeralMs + 1);
  expect(await runDurableObjectAlarm(stub)).toBe(true);
  expect((await call(path, { account })).status).toBe(404);
  expect(await tablesOf(conversationId)).toEqual([]);
  expect(await alarmOf(conversationId)).toBeNull();
});

it('is there as long as its answer is running, and goes even when that was waited for long', async () => {
  const account = newAccount();
  const model = holdModel();
  const bridge = await connectBridge({ account });
  const { conversationId, responseId } = await submitEphemeral(account, bridge.bridgeId);
  const reader = new SseReader(await call(`chat/completions/${responseId}/events`, { account }));
  (await model.next()).answer({ calls: [runCommand('sleep')] });
  const { callId } = await bridge.nextCall();
  bridge.ask(callId, { reason: 'It may take a day to be answered.' });
  await reader.untilType('approval_request');
  shiftClock(CONVERSATION_LIMITS.ephemeralMs + 1);
  expect(await runDurableObjectAlarm(conversationObject(conversationId))).toBe(true);
  expect((await call(`chat/completions/${responseId}`, { account })).status).toBe(200);
  expect(await alarmOf(conversationId)).not.toBeNull();
  await cancel(responseId, account);
  await reader.toEnd();
  const at = (await alarmOf(conversationId)) ?? Number.POSITIVE_INFINITY;
  expect(at).toBeLessThanOrEqual(Date.now() + CONVERSATION_LIMITS.ephemeralMs);
});

it('takes its subagents at every depth along, and none of them is listed', async () => {
  const account = newAccount();
  const { bridgeId } = await connectBridge({ account });
  scriptTree({
    go: [{ calls: [taskCall('work', { type: 'generalPurpose' })] }, { text: 'Over.' }],
    work: [{ calls: [taskCall('look')] }, { text: 'Made.' }],
    look: [{ text: 'Seen.' }],
  });
  const { conversationId, responseId } = await submitEphemeral(account, bridgeId);
  await new SseReader(await call(`chat/completions/${responseId}/events`, { account })).toEnd();
  const child = await subagentOf(conversationId, account);
  const tree = [conversationId, child, await subagentOf(child, account)];
  expect(await (await call('conversations', { account })).json()).toMatchObject({ items: [] });
  shiftClock(CONVERSATION_LIMITS.ephemeralMs + 1);
  for (const id of tree) {
    await runDurableObjectAlarm(conversationObject(id));
    expect((await call(`conversations/${id}`, { account })).status).toBe(404);
    expect(await tablesOf(id)).toEqual([]);
  }
});

async function subagentOf(conversationId: string, account: string): Promise<string> {
  const view = await readView(conversationId, { account });
  const state = SubagentState.parse(view.responses[0]?.documents[0]?.metadata['subagent']);
  return state.conversationId ?? '';
}

it('has its alarm from the moment it is stored', async () => {
  const account = newAccount();
  const { bridgeId } = await connectBridge({ account });
  const looked = vi.spyOn(Tunnel.prototype, 'look');
  looked.mockImplementation(() => {
    looked.mockImplementation((() => new Promise(() => undefined)) as never);
    throw new Error('reset');
  });
  const { conversationId, responseId } = await submitEphemeral(account, bridgeId);
  expect(await (await call(`chat/completions/${responseId}`, { account })).json()).toMatchObject({
    status: 'queued',
  });
  expect(await alarmOf(conversationId)).not.toBeNull();
});

async function submitEphemeral(account: string, bridgeId: string | null = null) {
  const conversationId = newConversationId(crypto.randomUUID());
  const outcome = await conversationObject(conversationId).submit(
    { account, conversationId },
    {
      request: {
        type: 'message',
        model: 'scripted',
        mode: 'agent',
        messages: [{ role: 'user', content: 'go' }],
        createdMs: Date.now(),
      },
      device: undefined,
      delivery: 'queue',
      ownFields: [],
      create: { bridgeId, title: 'go', ephemeral: true },
    },
  );
  expect(outcome.ok).toBe(true);
  return { conversationId, responseId: responseIdOf(conversationId, 1) };
}
