import { expect, it, vi } from 'vitest';
import { newCallId, newConversationId, responseIdOf } from '../../../shared/ids.ts';
import { TUNNEL_LIMITS } from '../../../shared/limits.ts';
import { guestEdit } from '../../../shared/tools/guest-edit.ts';
import type { Proposal } from '../../../shared/wire/approvals.ts';
import type { ConversationView } from '../../../shared/wire/documents.ts';
import { ask, call } from '../api.ts';
import { askStreamed, cancel, readResponse } from '../conversation/conversing.ts';
import { holdModel } from '../conversation/held-model.ts';
import { connectBridge, NONCE, type ScriptedBridge } from './scripted-bridge.ts';

const tools = [guestEdit.name];
const PROPOSAL: Proposal = {
  kind: 'edit',
  tool: guestEdit.name,
  path: 'a.ts',
  operation: 'edit',
  diff: [{ oldString: 'one', newString: 'two', startLine: 1, endLine: 1 }],
  beforeHash: 'b',
  afterHash: 'a',
};

it('a guest’s call begins a conversation, whose run asks no model and ends with the call', async () => {
  const bridge = await connectBridge({ tools });
  const frame = guestCall();
  const { callId, conversationId } = frame;
  bridge.send(frame);
  expect(await bridge.nextCall()).toEqual({
    callId,
    conversationId,
    tool: guestEdit.name,
    mode: 'agent',
    arguments: { proposal: callId, path: 'a.ts' },
    run: responseIdOf(conversationId, 1),
    trace: expect.stringMatching(/^[0-9a-f]{32}$/),
  });
  bridge.ask(callId, { proposal: PROPOSAL });
  const waiting = await isWaiting(conversationId);
  expect(waiting).toMatchObject({
    title: frame.title,
    messages: [{ content: 'Gemini CLI 1.0 wants to change a.ts' }],
    responses: [
      {
        status: 'waiting',
        model: 'Gemini CLI 1.0',
        documents: [
          {
            type: 'file_edit',
            metadata: { filePath: 'a.ts', approval: { callId, nonce: NONCE, proposal: PROPOSAL } },
          },
        ],
      },
    ],
  });
  bridge.resolve(callId);
  bridge.succeed(callId, 'Edited a.ts.');
  await bridge.next('ack');
  const [{ id } = { id: '' }] = waiting.responses;
  await expect.poll(async () => (await readResponse(id)).status).toBe('completed');
  const { items } = await (await call('conversations')).json<{ items: unknown[] }>();
  const { title } = frame;
  expect(items).toContainEqual(expect.objectContaining({ id: conversationId, title }));
});

it('the same frame again begins nothing, and another call of the guest goes into the same conversation', async () => {
  const bridge = await connectBridge({ tools });
  const frame = guestCall();
  bridge.send(frame);
  bridge.send(frame);
  bridge.succeed((await bridge.nextCall()).callId, 'Edited.');
  await bridge.next('ack');
  bridge.send(frame);
  await bridge.next('ack');
  bridge.send({ ...frame, callId: newCallId(crypto.randomUUID()), path: 'b.ts' });
  expect((await bridge.nextCall()).arguments).toMatchObject({ path: 'b.ts' });
  const { responses } = await conversation(frame.conversationId, 2);
  expect(responses).toHaveLength(2);
});

it('a guest’s call is kept out of every other conversation', async () => {
  const model = holdModel();
  const { conversationId } = await askStreamed();
  (await model.next()).answer({ text: 'Hi.' });
  const bridge = await connectBridge({ tools });
  await isRefused(bridge, { ...guestCall(), conversationId });
  const other = await connectBridge({ tools, account: 'eve' });
  const frame = guestCall();
  bridge.send(frame);
  bridge.succeed((await bridge.nextCall()).callId, 'Edited.');
  await bridge.next('ack');
  const again = { ...frame, callId: newCallId(crypto.randomUUID()) };
  await isRefused(other, again);
  await isRefused(await connectBridge({ tools }), again);
});

it('a flood of guest calls begins as many as may be open, and more after their end', async () => {
  const bridge = await connectBridge({ tools });
  const frames = Array.from({ length: 40 }, guestCall);
  for (const frame of frames) bridge.send(frame);
  const ofType = (type: string) => bridge.frames.filter((frame) => frame.type === type).length;
  await expect.poll(() => ofType('call') + ofType('ack')).toBe(frames.length);
  expect(ofType('call')).toBe(TUNNEL_LIMITS.maxGuestCalls);
  const { callId } = await bridge.nextCall();
  bridge.frames.length = 0;
  bridge.succeed(callId, 'Edited.');
  await bridge.next('ack');
  bridge.send(guestCall());
  await bridge.nextCall();
});

it('a call whose run is cancelled before its turn is cancelled at the bridge', async () => {
  const bridge = await connectBridge({ tools });
  const { callId, ...frame } = guestCall();
  bridge.send({ ...frame, callId });
  await bridge.nextCall();
  const waiting = { ...frame, callId: newCallId(crypto.randomUUID()) };
  bridge.send(waiting);
  await conversation(frame.conversationId, 2);
  await cancel(responseIdOf(frame.conversationId, 2));
  expect((await bridge.next('cancel')).callId).toBe(waiting.callId);
});

it('a message for a guest’s run waits for its end, and goes to a model', async () => {
  const model = holdModel();
  const bridge = await connectBridge({ tools });
  const frame = guestCall();
  bridge.send(frame);
  const { callId, conversationId } = await bridge.nextCall();
  const asked = ask('What did it change?', { conversationId, delivery: 'steer' });
  await conversation(conversationId, 2);
  bridge.succeed(callId, 'Edited a.ts.');
  const turn = await model.next();
  expect(JSON.stringify(turn.request)).toContain('wants to change a.ts');
  turn.answer({ text: 'a.ts.' });
  expect(await (await asked).json()).toMatchObject({ status: 'completed' });
});

function guestCall() {
  return {
    type: 'guest_call',
    callId: newCallId(crypto.randomUUID()),
    conversationId: newConversationId(crypto.randomUUID()),
    program: 'Gemini CLI 1.0',
    title: 'Gemini CLI 1.0 in /work',
    path: 'a.ts',
  } as const;
}

async function isRefused(bridge: ScriptedBridge, frame: Record<string, unknown>): Promise<void> {
  bridge.send({ ...frame });
  expect((await bridge.next('ack')).callId).toBe(frame['callId']);
  expect(bridge.frames.filter(({ type }) => type === 'call')).toEqual([]);
}

/** The conversation, once it has so many messages. */
async function conversation(conversationId: string, messages = 1): Promise<ConversationView> {
  return await vi.waitFor(async () => {
    const view: ConversationView = await (await call(`conversations/${conversationId}`)).json();
    expect(view.messages).toHaveLength(messages);
    return view;
  });
}

async function isWaiting(conversationId: string): Promise<ConversationView> {
  return await vi.waitFor(async () => {
    const view = await conversation(conversationId);
    expect(view.responses[0]?.status).toBe('waiting');
    return view;
  });
}
