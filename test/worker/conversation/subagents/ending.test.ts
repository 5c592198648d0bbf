import { runDurableObjectAlarm, runInDurableObject } from 'cloudflare:test';
import { beforeEach, expect, it, vi } from 'vitest';
import { newConversationId } from '../../../../shared/ids.ts';
import type { Conversation } from '../../../../worker/conversation/object.ts';
import { TASK_LIMITS } from '../../../../worker/conversation/subagents/limits.ts';
import { call, chat, errorOf } from '../../api.ts';
import { connectBridge, type ScriptedBridge } from '../../tunnel/scripted-bridge.ts';
import {
  askStreamed,
  cancel,
  conversationObject,
  readResponse,
  type Streamed,
} from '../conversing.ts';
import { type HeldModel, type HeldReply, holdModel, readFile, textFrame } from '../held-model.ts';
import { agentsOf, resultsIn, scriptTree, taskCall, viewOf } from './tree.ts';

let bridge: ScriptedBridge;

beforeEach(async () => {
  bridge = await connectBridge();
});
interface Running extends Streamed {
  readonly model: HeldModel;
  readonly reply: HeldReply;
  readonly childId: string;
}

/** A subagent whose first request to the model is open. */
async function startChild(type = 'explore'): Promise<Running> {
  const model = holdModel();
  const streamed = await askStreamed({ bridgeId: bridge.bridgeId });
  (await model.next()).answer({ calls: [taskCall('look', { type })] });
  const reply = await model.next();
  await streamed.reader.until((all) => all.some(({ event }) => event.type === 'subagent_update'));
  const [agent] = await agentsOf(streamed.conversationId);
  return { ...streamed, model, reply, childId: agent?.conversationId ?? '' };
}

async function statusOf(childId: string): Promise<string | undefined> {
  return (await viewOf(childId)).responses[0]?.status;
}

it('a cancel of the answer ends its subagents', async () => {
  const { responseId, reply, childId } = await startChild();
  await cancel(responseId);
  await reply.untilAborted();
  await vi.waitUntil(async () => (await statusOf(childId)) === 'cancelled');
  const { status, documents } = await readResponse(responseId);
  expect(status).toBe('cancelled');
  expect(documents[0]?.metadata['subagent']).toMatchObject({ status: 'cancelled' });
});

it('a cancel of the answer reaches a subagent that was being restarted', async () => {
  const { responseId, reply, childId, conversationId } = await startChild();
  const failed = await failOnce('cancel', childId);
  await cancel(responseId);
  await vi.waitUntil(failed);
  expect(await statusOf(childId)).toBe('streaming');
  await wakeAfter(TASK_LIMITS.retryMs, conversationId);
  await reply.untilAborted();
  await vi.waitUntil(async () => (await statusOf(childId)) === 'cancelled');
  expect((await readResponse(responseId)).status).toBe('cancelled');
});

it('a cancel of the answer reaches a subagent even if the conversation crashes before it could send it', async () => {
  const { responseId, reply, childId, conversationId } = await startChild();
  const failed = await failOnce('cancel', childId);
  await cancel(responseId);
  await vi.waitUntil(failed);
  await abort(conversationId);
  await wakeAfter(TASK_LIMITS.retryMs, conversationId);
  await reply.untilAborted();
  await vi.waitUntil(async () => (await statusOf(childId)) === 'cancelled');
});

it('a cancel of the subagent alone reaches its parent, which goes on', async () => {
  const { model, reply, childId, reader, responseId } = await startChild();
  reply.send(textFrame('Half a result'));
  await vi.waitUntil(async () => (await viewOf(childId)).responses[0]?.documents.length === 1);
  const [response] = (await viewOf(childId)).responses;
  await cancel(response?.id ?? '');
  const next = await model.next();
  expect(resultsIn(next.request)[0]).toContain('did not finish');
  expect(resultsIn(next.request)[0]).toContain('Half a result');
  next.answer({ text: 'Then without it.' });
  await reader.toEnd();
  expect((await readResponse(responseId)).status).toBe('completed');
});

it('informs the parent why a subagent failed', async () => {
  const requests = scriptTree({
    go: [{ calls: [taskCall('fail')] }, { text: 'A pity.' }],
    fail: [() => Response.json({ error: { message: 'no such thing' } }, { status: 400 })],
  });
  const response = await chat('go', { bridgeId: bridge.bridgeId });
  const last = requests.at(-1);
  expect(last && resultsIn(last)[0]).toContain('did not finish');
  expect(response.documents.map(({ type }) => type)).toEqual(['tool_call', 'error', 'text']);
  expect(response.documents[1]?.metadata['errorCode']).toBe('SUBAGENT_FAILED');
});

it('deletion takes the subagents along', async () => {
  const { conversationId, childId, reply } = await startChild();
  const removed = await call(`conversations/${conversationId}`, { method: 'DELETE' });
  expect(removed.status).toBe(204);
  await reply.untilAborted();
  const gone = await call(`conversations/${childId}`);
  expect(await errorOf(gone)).toMatchObject({ code: 'NOT_FOUND' });
});

it('deletion of a fork leaves the subagents of the original', async () => {
  scriptTree({
    go: [{ calls: [taskCall('look')] }, { text: 'Over.' }],
    look: [{ text: 'Seen.' }],
  });
  const { conversationId, id } = await chat('go', { bridgeId: bridge.bridgeId });
  const [agent] = await agentsOf(conversationId);
  const body = { responseId: id };
  const forked = await call(`conversations/${conversationId}/forks`, { body });
  const { conversationId: copy } = await forked.json<{ conversationId: string }>();
  const [kept] = await agentsOf(copy);
  expect(kept).toMatchObject({ type: 'explore', status: 'completed' });
  expect(kept?.conversationId).toBeUndefined();
  expect((await call(`conversations/${copy}`, { method: 'DELETE' })).status).toBe(204);
  expect(await statusOf(agent?.conversationId ?? '')).toBe('completed');
});

it('deletion of a subagent alone is sent to its parent', async () => {
  const { childId, model, conversationId } = await startChild();
  expect((await call(`conversations/${childId}`, { method: 'DELETE' })).status).toBe(204);
  await wakeAfter(TASK_LIMITS.lookMs, conversationId);
  const next = await model.next();
  expect(resultsIn(next.request)[0]).toContain('does not exist any more');
});

it('a subagent’s conversation takes no messages and no new title, and says where to write', async () => {
  const { childId, conversationId } = await startChild();
  const body = { conversationId: childId, messages: [{ role: 'user', content: 'hello' }] };
  const refused = await errorOf(await call('chat/completions', { body }));
  expect(refused).toMatchObject({ code: 'INVALID_REQUEST' });
  expect(refused.message).toContain(conversationId);
  const patch = { method: 'PATCH', body: { title: 'Mine' } };
  const unnamed = await errorOf(await call(`conversations/${childId}`, patch));
  expect(unnamed).toMatchObject({ code: 'INVALID_REQUEST' });
});

it('a subagent’s conversation belongs to the same account', async () => {
  const { childId } = await startChild();
  const foreign = await call(`conversations/${childId}`, { account: 'eve' });
  expect(foreign.status).toBe(404);
});

it('a crash of the parent while a subagent works starts it only once', async () => {
  const { model, reply, conversationId, reader, responseId } = await startChild();
  await abort(conversationId);
  await readResponse(responseId);
  reply.answer({ text: 'Seen once.' });
  const next = await model.next();
  expect(resultsIn(next.request)).toEqual(['Seen once.']);
  next.answer({ text: 'Over.' });
  await reader.toEnd();
  expect(model.count).toBe(3);
});

it('a crash of the subagent asks its turn again, and the parent gets one result', async () => {
  const { model, reply, childId, reader, responseId } = await startChild();
  reply.send(textFrame('Half'));
  await vi.waitUntil(async () => (await viewOf(childId)).responses[0]?.documents.length === 1);
  await abort(childId);
  await viewOf(childId);
  (await model.next()).answer({ text: 'Whole.' });
  const next = await model.next();
  expect(resultsIn(next.request)).toEqual(['Whole.']);
  next.answer({ text: 'Over.' });
  await reader.toEnd();
  expect((await readResponse(responseId)).status).toBe('completed');
});

it('a crash of the parent as the subagent ends loses no result: the subagent reports it again', async () => {
  const { model, reply, conversationId, childId, reader } = await startChild();
  const failed = await failOnce('taskReport', conversationId);
  reply.answer({ text: 'Seen.' });
  await vi.waitUntil(failed);
  await wakeAfter(TASK_LIMITS.retryMs, childId);
  const next = await model.next();
  expect(resultsIn(next.request)).toEqual(['Seen.']);
  next.answer({ text: 'Over.' });
  await reader.toEnd();
});

it('a crash of both, while a tool of the subagent runs, runs the tool once', async () => {
  const { model, reply, reader, responseId, conversationId, childId } = await startChild();
  reply.answer({ calls: [readFile('a.ts')] });
  const { callId } = await bridge.nextCall();
  await abort(conversationId);
  await abort(childId);
  await readResponse(responseId);
  bridge.succeed(callId, 'let a;');
  (await model.next()).answer({ text: 'It says let a.' });
  const next = await model.next();
  expect(resultsIn(next.request)).toEqual(['It says let a.']);
  next.answer({ text: 'Over.' });
  await reader.toEnd();
  expect(bridge.frames.filter(({ type }) => type === 'call')).toEqual([]);
});

it('names a subagent’s conversation by its call', async () => {
  scriptTree({ go: [{ calls: [taskCall('look')] }, { text: 'Over.' }], look: [{ text: 'Seen.' }] });
  const response = await chat('go', { bridgeId: bridge.bridgeId });
  const { toolCallId, subagent } = response.documents[0]?.metadata ?? {};
  const expected = newConversationId(String(toolCallId).slice('call_'.length));
  expect(subagent).toMatchObject({ conversationId: expected });
});

async function abort(conversationId: string): Promise<void> {
  const stub = conversationObject(conversationId);
  await runInDurableObject(stub, (_, state) => state.abort()).catch(() => undefined);
}

/** Lets the alarm come when so much time has passed. */
async function wakeAfter(ms: number, conversationId: string): Promise<void> {
  vi.spyOn(Date, 'now').mockReturnValue(Date.now() + ms);
  expect(await runDurableObjectAlarm(conversationObject(conversationId))).toBe(true);
}

/** Lets the next call of this method of one object fail, as in a reset. Returns whether it has. */
async function failOnce(
  method: 'cancel' | 'taskReport',
  conversationId: string,
): Promise<() => boolean> {
  let hasFailed = false;
  await runInDurableObject(conversationObject(conversationId), (object: Conversation, { id }) => {
    const prototype = Object.getPrototypeOf(object);
    const real = prototype[method];
    vi.spyOn(prototype, method).mockImplementation(function (
      this: { ctx: DurableObjectState },
      ...args: never[]
    ) {
      if (hasFailed || !this.ctx.id.equals(id)) return Reflect.apply(real, this, args);
      hasFailed = true;
      throw new Error('reset');
    } as never);
  });
  return () => hasFailed;
}
