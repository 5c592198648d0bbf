import { evictDurableObject, runDurableObjectAlarm, runInDurableObject } from 'cloudflare:test';
import { expect, it, vi } from 'vitest';
import { RUN_LIMITS, TUNNEL_LIMITS } from '../../../shared/limits.ts';
import type { ToolCall } from '../../../shared/wire/tunnel.ts';
import { Conversation } from '../../../worker/conversation/object.ts';
import {
  askStreamed,
  cancel,
  conversationObject,
  readResponse,
  type Streamed,
} from '../conversation/conversing.ts';
import { type HeldModel, holdModel, runCommand } from '../conversation/held-model.ts';
import { shiftClock } from '../conversation/shifted-clock.ts';
import { newToolCall } from './calls.ts';
import { connectBridge, openBridge, type ScriptedBridge, tunnelOf } from './scripted-bridge.ts';

it('the welcome delivers a call that waited for its bridge', async () => {
  const { model, bridgeId, streamed } = await callWhileAway();
  const { bridge, calls } = await comeBack(bridgeId);
  expect(calls).toMatchObject([{ tool: 'run_terminal_cmd', arguments: { command: 'make' } }]);
  bridge.succeed(calls[0]?.callId ?? '', 'made');
  (await model.next()).answer({ text: 'Built.' });
  await streamed.reader.toEnd();
  expect((await readResponse(streamed.responseId)).status).toBe('completed');
});

it('a call for an offline bridge fails with BRIDGE_OFFLINE after the grace, and the model learns it', async () => {
  const { model, bridgeId, streamed } = await callWhileAway();
  await passTime(bridgeId, RUN_LIMITS.bridgeGraceMs);
  const { request } = await answerNext(model);
  expect(request.messages.at(-1)?.content).toMatch(/^Error BRIDGE_OFFLINE/);
  await streamed.reader.toEnd();
  expect((await comeBack(bridgeId)).calls).toEqual([]);
  // Only the end of the bridge's token is left.
  expect((await alarmOf(bridgeId)) ?? 0).toBeGreaterThan(Date.now() + RUN_LIMITS.bridgeGraceMs);
});

it('a call for an offline bridge fails although its conversation was evicted', async () => {
  const { model, bridgeId, streamed } = await callWhileAway();
  await evictDurableObject(conversationObject(streamed.conversationId));
  await passTime(bridgeId, RUN_LIMITS.bridgeGraceMs);
  await answerNext(model);
  await streamed.reader.toEnd();
});

it('a call for an offline bridge waits on when the alarm comes early', async () => {
  const { bridgeId, streamed } = await callWhileAway();
  await runDurableObjectAlarm(tunnelOf(bridgeId));
  expect(await alarmOf(bridgeId)).not.toBeNull();
  expect((await comeBack(bridgeId)).calls).toHaveLength(1);
  await streamed.reader.leave();
});

it('a call is forgotten when it is cancelled before it was sent', async () => {
  const { bridgeId, streamed } = await callWhileAway();
  await cancel(streamed.responseId);
  await streamed.reader.toEnd();
  const { calls, cancels } = await comeBack(bridgeId);
  expect({ calls, cancels }).toEqual({ calls: [], cancels: [] });
});

it('a call counts as started once the welcome has brought it', async () => {
  const { bridgeId, streamed } = await callWhileAway();
  const { bridge, calls } = await comeBack(bridgeId);
  await bridge.leave();
  await passTime(bridgeId, RUN_LIMITS.bridgeGraceMs);
  expect((await comeBack(bridgeId)).calls).toEqual(calls);
  await streamed.reader.leave();
});

it('a call that comes while another one is given up waits on', async () => {
  const gone = await connectBridge();
  await gone.leave();
  const tunnel = tunnelOf(gone.bridgeId);
  const [first, second] = [newToolCall(), newToolCall()];
  await tunnel.dispatch('ada', [first, second]);
  let isHeld = true;
  const settle = vi.spyOn(Conversation.prototype, 'settle').mockImplementation((async () => {
    while (isHeld) await scheduler.wait(5);
  }) as never);
  const passed = passTime(gone.bridgeId, 2 * RUN_LIMITS.bridgeGraceMs);
  await vi.waitFor(() => expect(settle).toHaveBeenCalled());
  const [given] = settle.mock.calls.map(([callId]) => callId);
  const kept = [first, second].filter(({ callId }) => callId !== given);
  expect((await comeBack(gone.bridgeId)).calls).toEqual(kept);
  isHeld = false;
  await passed;
  expect(settle).toHaveBeenCalledTimes(1);
});

it('a call does not wait longer because others come', async () => {
  const { bridgeId, streamed } = await callWhileAway();
  const at = await alarmOf(bridgeId);
  const clock = shiftClock(RUN_LIMITS.bridgeGraceMs / 2);
  await tunnelOf(bridgeId).dispatch('ada', [newToolCall()]);
  clock.aheadMs = 0;
  expect(await alarmOf(bridgeId)).toBe(at);
  await streamed.reader.leave();
});

it('a call that the bridge may have started does not fail, and its cancel is kept', async () => {
  const { bridge, callId, streamed } = await currentCall();
  await bridge.leave();
  await runDurableObjectAlarm(tunnelOf(bridge.bridgeId));
  expect((await readResponse(streamed.responseId)).status).toBe('streaming');
  await cancel(streamed.responseId);
  const back = await comeBack(bridge.bridgeId);
  expect([back.calls, back.cancels]).toEqual([[], [callId]]);
  back.bridge.finish(callId, { status: 'error', code: 'CANCELLED', data: 'Cancelled.' });
  await back.bridge.next('ack');
  expect((await comeBack(bridge.bridgeId)).cancels).toEqual([]);
  await streamed.reader.toEnd();
});

it('a bridge whose pings stopped gets its calls when the pings come again', async () => {
  const { bridge, callId, streamed } = await callWhileSilent();
  await runDurableObjectAlarm(tunnelOf(bridge.bridgeId));
  const call = await bridge.nextCall();
  expect(call.callId).toBe(callId);
  await streamed.reader.leave();
});

it('a call that a silent bridge got late counts as started', async () => {
  const { bridge, callId, streamed } = await callWhileSilent();
  await runDurableObjectAlarm(tunnelOf(bridge.bridgeId));
  await bridge.nextCall();
  await bridge.leave();
  await tunnelOf(bridge.bridgeId).dispatch('ada', [newToolCall()]);
  await passTime(bridge.bridgeId, TUNNEL_LIMITS.deadMs + 2 * RUN_LIMITS.bridgeGraceMs);
  expect((await comeBack(bridge.bridgeId)).calls).toMatchObject([{ callId }]);
  await streamed.reader.leave();
});

it('a bridge gets the cancel of a call that it was sent the second time', async () => {
  const { bridge, callId, streamed, call } = await callWhileSilent();
  await tunnelOf(bridge.bridgeId).dispatch('ada', [call]);
  await bridge.nextCall();
  await cancel(streamed.responseId);
  expect((await bridge.next('cancel')).callId).toBe(callId);
  await streamed.reader.toEnd();
});

it('a call is given up by its conversation in the end, and cancelled at the bridge', async () => {
  const { model, bridge, callId, streamed } = await currentCall();
  shiftClock(RUN_LIMITS.callDeadlineMs);
  await runDurableObjectAlarm(conversationObject(streamed.conversationId));
  const { request } = await answerNext(model);
  expect(request.messages.at(-1)?.content).toMatch(/^Error DEADLINE_PASSED/);
  await streamed.reader.toEnd();
  vi.mocked(Date.now).mockRestore();
  const back = await comeBack(bridge.bridgeId);
  expect(back.cancels).toEqual([callId]);
});

it('a bridge repeats a result that its conversation could not take', async () => {
  const { bridge, callId, streamed } = await currentCall();
  vi.spyOn(Conversation.prototype, 'settle').mockImplementationOnce(() => {
    throw new Error('reset');
  });
  bridge.succeed(callId, 'made');
  expect(await bridge.closed).toBe(1013);
  expect(bridge.frames).toEqual([]);
  const back = await comeBack(bridge.bridgeId);
  expect(back.calls).toMatchObject([{ callId }]);
  back.bridge.succeed(callId, 'made');
  await streamed.reader.untilType('tool_result');
  await streamed.reader.leave();
});

it('a result that a bridge still has is not acked before it was taken', async () => {
  const { bridge, callId, streamed } = await currentCall();
  await bridge.leave();
  const back = await openBridge({ bridgeId: bridge.bridgeId });
  const unknown = newToolCall().callId;
  back.hello({ calls: [callId, unknown] });
  expect((await back.next('ack')).callId).toBe(unknown);
  back.succeed(callId, 'made');
  await streamed.reader.untilType('tool_result');
  expect((await back.next('ack')).callId).toBe(callId);
  await streamed.reader.leave();
});

it('a call is cancelled for the account alone whose bridge it is', async () => {
  const { bridge, callId, streamed } = await currentCall();
  await tunnelOf(bridge.bridgeId).cancel('eve', [callId]);
  await bridge.leave();
  const { calls, cancels } = await comeBack(bridge.bridgeId);
  expect([calls.map((call) => call.callId), cancels]).toEqual([[callId], []]);
  await streamed.reader.leave();
});

it('a tool may run while every object of the edge is evicted', async () => {
  const { model, bridge, callId, streamed } = await currentCall();
  await evictDurableObject(conversationObject(streamed.conversationId));
  await evictDurableObject(tunnelOf(bridge.bridgeId));
  bridge.send({ type: 'output', callId, delta: 'working' });
  await bridge.next('credit');
  await evictDurableObject(tunnelOf(bridge.bridgeId));
  await evictDurableObject(conversationObject(streamed.conversationId));
  bridge.succeed(callId, 'made');
  expect((await bridge.next('ack')).callId).toBe(callId);
  await answerNext(model);
  const types = (await streamed.reader.toEnd()).map(({ event }) => event.type);
  expect(types.filter((type) => type === 'tool_output' || type === 'tool_result')).toEqual([
    'tool_output',
    'tool_result',
  ]);
  expect(await readResponse(streamed.responseId)).toMatchObject({ status: 'completed' });
});

interface Called {
  readonly model: HeldModel;
  readonly bridge: ScriptedBridge;
  readonly bridgeId: string;
  readonly streamed: Streamed;
}

/** A run that has handed its one call to a bridge that is not there. */
async function callWhileAway(): Promise<Called> {
  const bridge = await connectBridge();
  await bridge.leave();
  const called = await callOn(bridge);
  await untilStored(bridge.bridgeId);
  return called;
}

/** A run whose one call the bridge has. */
async function currentCall(): Promise<Called & { readonly callId: string }> {
  const called = await callOn(await connectBridge());
  return { ...called, callId: (await called.bridge.nextCall()).callId };
}

/** A run whose call was handed over while the bridge's connection looked dead, and then came to life. */
async function callWhileSilent(): Promise<Called & { callId: string; call: ToolCall }> {
  const bridge = await connectBridge();
  shiftClock(TUNNEL_LIMITS.deadMs);
  const called = await callOn(bridge);
  const call = await untilStored(bridge.bridgeId);
  vi.mocked(Date.now).mockRestore();
  expect(bridge.frames).toEqual([]);
  return { ...called, callId: call.callId, call };
}

async function callOn(bridge: ScriptedBridge): Promise<Called> {
  const model = holdModel();
  const streamed = await askStreamed({ bridgeId: bridge.bridgeId });
  (await model.next()).answer({ calls: [runCommand('make')] });
  return { model, bridge, bridgeId: bridge.bridgeId, streamed };
}

function untilStored(bridgeId: string): Promise<ToolCall> {
  return vi.waitFor(async () => {
    const { body } = await runInDurableObject(tunnelOf(bridgeId), (_, { storage }) =>
      storage.sql.exec<{ body: string }>('select body from calls').one(),
    );
    return JSON.parse(body);
  });
}

async function comeBack(bridgeId: string) {
  const bridge = await openBridge({ bridgeId });
  const { calls, cancels } = await bridge.greet();
  return { bridge, calls, cancels };
}

async function answerNext(model: HeldModel) {
  const reply = await model.next();
  reply.answer({ text: 'Over.' });
  return reply;
}

/** The alarm of a tunnel fires so much later. */
async function passTime(bridgeId: string, ms: number): Promise<void> {
  shiftClock(ms);
  await runDurableObjectAlarm(tunnelOf(bridgeId));
  vi.mocked(Date.now).mockRestore();
}

function alarmOf(bridgeId: string): Promise<number | null> {
  return runInDurableObject(tunnelOf(bridgeId), (_, { storage }) => storage.getAlarm());
}
