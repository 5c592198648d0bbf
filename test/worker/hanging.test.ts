/** Objects that do not answer, although nothing has reset them. */
import { runInDurableObject } from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import { expect, it, onTestFinished, vi } from 'vitest';
import { Account } from '../../worker/account/object.ts';
import { Conversation } from '../../worker/conversation/object.ts';
import type { Env } from '../../worker/env.ts';
import { FOLLOW_LIMITS } from '../../worker/follow/limits.ts';
import { inTime, REACH_LIMITS } from '../../worker/reach.ts';
import { RunsInProgress } from '../../worker/runs/object.ts';
import { Tunnel } from '../../worker/tunnel/object.ts';
import { call, chat } from './api.ts';
import { askAtBridge, askHeld, untilCompleted } from './conversation/conversing.ts';
import { holdModel, runCommand } from './conversation/held-model.ts';
import { scriptTree, taskCall } from './conversation/subagents/tree.ts';
import { SseReader } from './follow/sse-reader.ts';
import { quicken } from './follow/watching.ts';
import { connectBridge } from './tunnel/scripted-bridge.ts';

const QUICK = { [REACH_LIMITS.callMs]: 50 };

/** The next call of the method is never answered. */
function hang(prototype: object, method: string): void {
  const spied = vi.spyOn(prototype as Record<string, () => unknown>, method);
  spied.mockImplementationOnce(() => new Promise(() => {}));
  onTestFinished(() => spied.mockRestore());
}

it('a call to an object that hangs fails, and leaves no timer behind', async () => {
  const timers = quicken(QUICK);
  await expect(inTime(new Promise(() => {}))).rejects.toMatchObject({ code: 'UNAVAILABLE' });
  expect(await inTime(Promise.resolve('answered'))).toBe('answered');
  expect(timers.count).toBe(0);
});

it.each(['look', 'dispatch'])('a run goes on where its tunnel hangs in %s', async (method) => {
  quicken(QUICK);
  hang(Tunnel.prototype, method);
  const { model, bridge, responseId } = await askAtBridge();
  (await model.next()).answer({ calls: [runCommand('make')] });
  bridge.succeed((await bridge.nextCall()).callId, 'made');
  (await model.next()).answer({ text: 'Done.' });
  await untilCompleted(responseId);
});

it('a bridge is told to come back where the conversation of its result hangs', async () => {
  quicken(QUICK);
  const { model, bridge } = await askAtBridge();
  (await model.next()).answer({ calls: [runCommand('make')] });
  const { callId } = await bridge.nextCall();
  hang(Conversation.prototype, 'settle');
  bridge.succeed(callId, 'made');
  expect(await bridge.closed).toBe(1013);
});

it('a message is answered where the account hangs when it is to list the conversation', async () => {
  quicken(QUICK);
  hang(Account.prototype, 'begin');
  const { model, responseId } = await askHeld();
  (await model.next()).answer({ text: 'Done.' });
  await untilCompleted(responseId);
});

it('a task is started again where the object of its subagent hangs', async () => {
  quicken(QUICK);
  const { submit } = Conversation.prototype;
  const starts: string[] = [];
  const spied = vi.spyOn(Conversation.prototype, 'submit');
  spied.mockImplementation(function (this: Conversation, ...asked) {
    const [{ conversationId }, { request }] = asked;
    if (request.type === 'subagent') starts.push(conversationId);
    return starts.length === 1 ? new Promise(() => {}) : submit.apply(this, asked);
  });
  onTestFinished(() => spied.mockRestore());
  const { bridgeId } = await connectBridge();
  scriptTree({
    go: [{ calls: [taskCall('look')] }, { text: 'Over.' }],
    look: [{ text: 'Seen.' }],
  });
  expect((await chat('go', { bridgeId })).status).toBe('completed');
  expect(starts).toEqual([starts[0], starts[0]]);
});

it('a reader is attached where the account hangs at first', async () => {
  quicken(QUICK);
  const { model, responseId } = await askHeld();
  hang(Account.prototype, 'refusal');
  const events = call(`chat/completions/${responseId}/events`);
  (await model.next()).answer({ text: 'Done.' });
  expect(await new SseReader(await events).toEnd()).toBeDefined();
});

it('an answer in one piece is whole although the object falls silent to its reader', async () => {
  quicken({ [FOLLOW_LIMITS.silentMs]: 50 });
  const { fetch } = Conversation.prototype;
  const readers: WebSocket[] = [];
  const spied = vi.spyOn(Conversation.prototype, 'fetch');
  spied.mockImplementation(async function (this: Conversation, request) {
    if (readers.length > 1) return await fetch.call(this, request);
    const { 0: client, 1: server } = new WebSocketPair();
    server.accept();
    readers.push(server);
    return new Response(null, { status: 101, webSocket: client });
  });
  onTestFinished(() => spied.mockRestore());
  const model = holdModel();
  const asked = chat('go');
  (await model.next()).answer({ text: 'Done.' });
  expect(await asked).toMatchObject({ status: 'completed', documents: [{ content: 'Done.' }] });
  expect(readers).toHaveLength(2);
});

it('a run is woken behind many that hang', async () => {
  quicken(QUICK);
  vi.spyOn(console, 'error').mockImplementation(() => {});
  const woken: string[] = [];
  const get = (name: string) => ({
    wake: () => {
      woken.push(name);
      return name === 'a' ? Promise.resolve(true) : new Promise(() => {});
    },
  });
  const conversations = { idFromName: (name: string) => name, get };
  const stub = env.CONVERSATIONS.get(env.CONVERSATIONS.newUniqueId());
  await runInDurableObject(stub, async (_, state) => {
    const runs = new RunsInProgress(state, { CONVERSATIONS: conversations } as unknown as Env);
    // The first by name is woken last.
    for (const name of 'abcdefghijklmnopqrstuvwxyz') runs.note(name, true);
    await runs.wake();
  });
  expect(woken).toHaveLength(26);
  expect(woken.at(-1)).toBe('a');
});
