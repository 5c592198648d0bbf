import { expect, it, vi } from 'vitest';
import { responseIdOf } from '../../../shared/ids.ts';
import { Conversation } from '../../../worker/conversation/object.ts';
import { call, chat, errorOf, scriptModel } from '../api.ts';
import { connectBridge, type ScriptedBridge } from '../tunnel/scripted-bridge.ts';
import { newAccount, readResponse, startAnswer } from './conversing.ts';

const UNDO_TOOLS = ['write', 'preview_undo', 'undo_changes'];

it('a fork that restores is refused before it is made while the bridge is offline', async () => {
  const { bridge, fork, listed } = await twoAnswers();
  await bridge.leave();
  expect(await errorOf(await fork({ files: 'restore' }))).toMatchObject({
    status: 503,
    code: 'UNAVAILABLE',
    message: expect.stringContaining('bridge of the conversation is offline'),
  });
  expect(await listed()).toBe(1);
  expect((await fork({})).status).toBe(201);
});

it('a fork that restores is refused without a bridge, and while a later response runs', async () => {
  const account = newAccount();
  scriptModel(() => ({ text: 'hi' }));
  const { id, conversationId } = await chat('first', { account });
  const restore = { responseId: id, files: 'restore' };
  const path = `conversations/${conversationId}/forks`;
  expect((await call(path, { account, body: restore })).status).toBe(503);
  const { reader, reply } = await startAnswer({ account, conversationId });
  expect(await errorOf(await call(path, { account, body: restore }))).toMatchObject({
    status: 409,
    code: 'CONVERSATION_BUSY',
  });
  expect((await call(path, { account, body: { responseId: id } })).status).toBe(201);
  reply.answer({ text: 'x' });
  await reader.toEnd();
});

it('a crash between the fork and its restoring loses nothing: the same key makes both once', async () => {
  const { bridge, conversationId, fork, listed } = await twoAnswers('ada');
  const headers = { 'idempotency-key': 'restore' };
  const crash = vi.spyOn(Conversation.prototype, 'submit').mockImplementationOnce(() => {
    throw new Error('crashed');
  });
  expect((await fork({ files: 'restore' }, headers)).status).toBe(500);
  crash.mockRestore();
  expect(await listed()).toBe(2);
  const made = await fork({ files: 'restore' }, headers);
  const { tool, arguments: args, callId, ...where } = await bridge.nextCall();
  expect([tool, args]).toEqual([
    'undo_changes',
    { scope: 'since', id: responseIdOf(conversationId, 2) },
  ]);
  const body = await made.json<{ conversationId: string; responseId: string }>();
  expect(where.conversationId).toBe(body.conversationId);
  bridge.succeed(callId, 'Took back.');
  await vi.waitFor(async () => {
    expect((await readResponse(body.responseId)).status).toBe('completed');
  });
  expect(await (await fork({ files: 'restore' }, headers)).json()).toEqual(body);
  expect(await listed()).toBe(2);
  const other = await errorOf(await fork({ files: 'restore', digest: 'd' }, headers));
  expect(other).toMatchObject({ status: 422, code: 'IDEMPOTENCY_CONFLICT' });
});

it('a fork that keeps the files is made once for its key, and takes no digest', async () => {
  const { fork, listed } = await twoAnswers();
  const headers = { 'idempotency-key': 'keep' };
  const one = await (await fork({}, headers)).json();
  expect(await (await fork({ files: 'keep' }, headers)).json()).toEqual(one);
  expect(await listed()).toBe(2);
  expect((await fork({ digest: 'd' })).status).toBe(400);
});

interface Answered {
  readonly bridge: ScriptedBridge;
  readonly conversationId: string;
  /** Forks after the first answer. */
  readonly fork: (body: object, headers?: Record<string, string>) => Promise<Response>;
  readonly listed: () => Promise<number>;
}

async function twoAnswers(account = newAccount()): Promise<Answered> {
  scriptModel(() => ({ text: 'hi' }));
  const bridge = await connectBridge({ account, tools: UNDO_TOOLS });
  const { id, conversationId } = await chat('first', { account, bridgeId: bridge.bridgeId });
  await chat('second', { account, conversationId });
  const path = `conversations/${conversationId}/forks`;
  return {
    bridge,
    conversationId,
    fork: (body, headers = {}) =>
      call(path, { account, body: { responseId: id, ...body }, headers }),
    listed: async () => {
      const list = await call('conversations', { account });
      return (await list.json<{ items: unknown[] }>()).items.length;
    },
  };
}
