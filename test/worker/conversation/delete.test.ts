import { evictDurableObject } from 'cloudflare:test';
import { expect, it, vi } from 'vitest';
import type { ConversationList } from '../../../shared/api/conversations.ts';
import { Account } from '../../../worker/account/object.ts';
import { TAPE_LIMITS } from '../../../worker/conversation/tape/limits.ts';
import { Tunnel } from '../../../worker/tunnel/object.ts';
import { ask, call, chat, errorOf, scriptModel } from '../api.ts';
import { SseReader } from '../follow/sse-reader.ts';
import { connectBridge } from '../tunnel/scripted-bridge.ts';
import {
  alarmOf,
  askHeld,
  askStreamed,
  conversationObject,
  newAccount,
  tablesOf,
} from './conversing.ts';
import { holdModel, runCommand, textFrame } from './held-model.ts';

it('deletes everything: what is stored, what is listed, and what can be asked for', async () => {
  const account = newAccount();
  scriptModel(() => ({ text: 'hi' }));
  const { id, conversationId } = await chat('one', { account });
  await chat('other', { account });
  const response = await remove(conversationId, account);
  expect([response.status, await response.text()]).toEqual([204, '']);
  await expectNothingStored(conversationId);
  expect((await list(account)).map(({ title }) => title)).toEqual(['other']);
  for (const path of [
    `conversations/${conversationId}`,
    `conversations/${conversationId}/events`,
    `conversations/${conversationId}/export`,
    `chat/completions/${id}`,
    `chat/completions/${id}/events`,
  ]) {
    expect(await errorOf(await call(path, { account }))).toMatchObject({ code: 'NOT_FOUND' });
  }
  const more = await ask('more', { account, conversationId });
  expect(await errorOf(more)).toMatchObject({ status: 404, code: 'NOT_FOUND' });
  expect((await remove(conversationId, account)).status).toBe(404);
  await expectNothingStored(conversationId);
});

it('is for the owner alone', async () => {
  const account = newAccount();
  scriptModel(() => ({ text: 'hi' }));
  const { conversationId } = await chat('one', { account });
  expect((await remove(conversationId, newAccount())).status).toBe(404);
  expect((await call(`conversations/${conversationId}`, { account })).status).toBe(200);
  expect(await list(account)).toHaveLength(1);
});

it('takes a conversation off the list that is not there any more', async () => {
  const account = newAccount();
  scriptModel(() => ({ text: 'hi' }));
  const { conversationId } = await chat('one', { account });
  const caller = { account, conversationId };
  await conversationObject(conversationId).delete(caller);
  expect(await list(account)).toHaveLength(1);
  expect((await remove(conversationId, account)).status).toBe(404);
  expect(await list(account)).toEqual([]);
});

it('a deletion while a response is running ends the request to the model, streams and waiting answers, and nothing is written again', async () => {
  const account = newAccount();
  const { model, reader, responseId, conversationId } = await askHeld({ account });
  const whole = new SseReader(await call(`conversations/${conversationId}/events`, { account }));
  const reply = await model.next();
  reply.send(textFrame('Beginning'));
  await reader.untilText('Beginning');
  const queued = ask('json', { account, conversationId });
  await whole.until((events) => events.filter(({ event }) => event.type === 'message').length > 1);
  expect((await remove(conversationId, account)).status).toBe(204);
  await reply.untilAborted();
  const events = await reader.toEnd();
  expect(events.map(({ event }) => event.type)).not.toContain('done');
  await whole.toEnd();
  expect(await errorOf(await queued)).toMatchObject({ status: 404, code: 'NOT_FOUND' });
  reply.send(textFrame('late'));
  await new Promise((resolve) => setTimeout(resolve, TAPE_LIMITS.commitMs + 100));
  await expectNothingStored(conversationId);
  expect(await list(account)).toEqual([]);
  expect(model.count).toBe(1);
  const path = `chat/completions/${responseId}/events`;
  expect((await call(path, { account })).status).toBe(404);
});

it('a deletion while a response is running cancels a call at its bridge, also one that waits for a person, and takes no late result', async () => {
  const account = newAccount();
  const model = holdModel();
  const bridge = await connectBridge({ account });
  const { reader, conversationId } = await askStreamed({ account, bridgeId: bridge.bridgeId });
  (await model.next()).answer({ calls: [runCommand('make'), runCommand('make install')] });
  const running = await bridge.nextCall();
  const asking = await bridge.nextCall();
  bridge.ask(asking.callId);
  await reader.untilType('approval_request');
  expect((await remove(conversationId, account)).status).toBe(204);
  const cancelled = [await bridge.next('cancel'), await bridge.next('cancel')];
  expect(cancelled.map(({ callId }) => callId).sort()).toEqual(
    [running.callId, asking.callId].sort(),
  );
  bridge.send({ type: 'output', callId: running.callId, delta: 'late' });
  bridge.resolve(asking.callId);
  for (const { callId } of [running, asking]) {
    bridge.succeed(callId, 'late');
    expect((await bridge.next('ack')).callId).toBe(callId);
  }
  await reader.toEnd();
  await expectNothingStored(conversationId);
  expect(model.count).toBe(1);
});

it('a deletion while a response is running leaves nothing behind when the object wakes again', async () => {
  const account = newAccount();
  const { model, reader, conversationId } = await askHeld({ account });
  await model.next();
  await remove(conversationId, account);
  await reader.toEnd();
  await evictDurableObject(conversationObject(conversationId));
  expect((await call(`conversations/${conversationId}`, { account })).status).toBe(404);
  await expectNothingStored(conversationId);
  expect(model.count).toBe(1);
});

it('a conversation can be made again under the same id', async () => {
  const account = newAccount();
  scriptModel((_, number) => ({ text: `Reply ${number}.` }));
  const headers = { 'idempotency-key': 'again' };
  const body = { messages: [{ role: 'user', content: 'hello' }] };
  const send = async () =>
    (await call('chat/completions', { account, body, headers })).json<{ conversationId: string }>();
  const { conversationId } = await send();
  expect((await remove(conversationId, account)).status).toBe(204);
  expect(await send()).toMatchObject({
    conversationId,
    status: 'completed',
    documents: [{ content: 'Reply 1.' }],
  });
  expect(await list(account)).toMatchObject([{ id: conversationId }]);
  expect(await (await call(`conversations/${conversationId}`, { account })).json()).toMatchObject({
    messages: [{ content: 'hello' }],
    responses: [{ documents: [{ content: 'Reply 1.' }] }],
  });
});

it('a message that comes while the conversation is deleted does not bring it back', async () => {
  const account = newAccount();
  scriptModel(() => ({ text: 'hi' }));
  const { bridgeId } = await connectBridge({ account });
  const { conversationId } = await chat('one', { account, bridgeId });
  const { look } = Tunnel.prototype;
  let isHeld = true;
  const asked = vi.spyOn(Tunnel.prototype, 'look').mockImplementation(async function (
    this: Tunnel,
    ...parameters
  ) {
    // It looks for that itself: no object may resolve a promise of another.
    while (isHeld) await new Promise((resolve) => setTimeout(resolve, 5));
    return await look.apply(this, parameters);
  });
  const sent = ask('two', { account, conversationId });
  await vi.waitFor(() => expect(asked).toHaveBeenCalled());
  expect((await remove(conversationId, account)).status).toBe(204);
  isHeld = false;
  expect(await errorOf(await sent)).toMatchObject({ status: 404, code: 'NOT_FOUND' });
  await expectNothingStored(conversationId);
});

it('what is on its way to the list does not bring it back there', async () => {
  const account = newAccount();
  scriptModel(() => ({ text: 'hi' }));
  const { answered } = Account.prototype;
  const sent = vi.spyOn(Account.prototype, 'answered').mockImplementation(slow(answered) as never);
  const { conversationId } = await chat('one', { account });
  await vi.waitFor(() => expect(sent).toHaveBeenCalled());
  expect((await remove(conversationId, account)).status).toBe(204);
  await new Promise((resolve) => setTimeout(resolve, 150));
  expect(await list(account)).toEqual([]);
});

/** The method, some time after it is called: the runtime waits for promises of methods that a test replaces. */
function slow<This, Arguments extends unknown[], Result>(
  method: (this: This, ...parameters: Arguments) => Result,
) {
  return async function (this: This, ...parameters: Arguments): Promise<Result> {
    await new Promise((resolve) => setTimeout(resolve, 100));
    return method.apply(this, parameters);
  };
}

function remove(conversationId: string, account: string): Promise<Response> {
  return call(`conversations/${conversationId}`, { method: 'DELETE', account });
}

async function list(account: string): Promise<ConversationList['items']> {
  const body: ConversationList = await (await call('conversations', { account })).json();
  return body.items;
}

async function expectNothingStored(conversationId: string): Promise<void> {
  expect(await tablesOf(conversationId)).toEqual([]);
  expect(await alarmOf(conversationId)).toBeNull();
}
