/** Frames and calls that overtake each other on their way between a conversation, its tunnel and its bridge. */
import { expect, it, vi } from 'vitest';
import { REQUEST_LIMITS, TUNNEL_LIMITS } from '../../../shared/limits.ts';
import { Deadlines } from '../../../worker/conversation/deadlines.ts';
import { Tunnel } from '../../../worker/tunnel/object.ts';
import { askStreamed, cancel } from '../conversation/conversing.ts';
import { holdModel, runCommand } from '../conversation/held-model.ts';
import { newToolCall } from './calls.ts';
import { connectBridge, openBridge, type ScriptedBridge, tunnelOf } from './scripted-bridge.ts';

it('a bridge may say more before its hello is answered', async () => {
  const bridge = await openBridge();
  const { callId } = newToolCall();
  bridge.hello();
  bridge.succeed(callId, 'of a call that never was');
  await bridge.next('welcome');
  expect((await bridge.next('ack')).callId).toBe(callId);
});

it('a call that its cancel has overtaken is not sent', async () => {
  const bridge = await connectBridge();
  const [call, next] = [newToolCall(), newToolCall()];
  const tunnel = tunnelOf(bridge.bridgeId);
  await tunnel.cancel('ada', [call.callId]);
  await tunnel.dispatch('ada', [call, next]);
  expect(await bridge.nextCall()).toEqual(next);
});

it('a call that was cancelled before it was handed over is not handed over', async () => {
  const dispatch = vi.spyOn(Tunnel.prototype, 'dispatch');
  const model = holdModel();
  const { bridgeId } = await connectBridge();
  const { reader, responseId } = await askStreamed({ bridgeId });
  const reply = await model.next();
  const ensure = slowDown();
  reply.answer({ calls: [runCommand('make')] });
  await vi.waitFor(() => expect(ensure.begun).toBeGreaterThan(0));
  await cancel(responseId);
  await reader.toEnd();
  await vi.waitFor(() => expect(ensure.ended).toBe(ensure.begun));
  await scheduler.wait(50);
  expect(dispatch).not.toHaveBeenCalled();
});

it('calls that waited come in the order in which they were handed over', async () => {
  const calls = await waiting(Array.from({ length: 8 }, (_, index) => String(index)));
  expect(calls.welcomed).toEqual(['0', '1', '2', '3', '4', '5', '6', '7']);
});

it('calls that do not fit a welcome come behind it', async () => {
  const commands = ['1', '2', '3', '4', '5'].map((digit) => digit.repeat(1_000_000));
  const { bridge, welcomed } = await waiting(commands);
  expect(welcomed).toEqual(commands.slice(0, 2));
  for (const command of commands.slice(2)) {
    expect((await bridge.nextCall()).arguments).toEqual({ command });
  }
  expect(welcomed.join('').length).toBeLessThan(TUNNEL_LIMITS.maxFrameBytes);
});

it('answers that do not fit a welcome come behind it', async () => {
  const { bridgeId, ...gone } = await left();
  const calls = Array.from({ length: 12 }, (_, index) => newToolCall(String(index)));
  const content = '\u0001'.repeat(REQUEST_LIMITS.maxAmendedChars);
  await tunnelOf(bridgeId).dispatch('ada', calls);
  for (const { callId } of calls) {
    const answer = { callId, nonce: 'n', decision: 'once', content } as const;
    expect(await tunnelOf(bridgeId).answer('ada', answer)).toMatchObject({ ok: true });
  }
  const bridge = await openBridge({ bridgeId, ...gone });
  const welcome = await bridge.greet();
  expect(JSON.stringify(welcome).length).toBeLessThan(TUNNEL_LIMITS.maxFrameBytes);
  const answered = welcome.answers.map(({ callId }) => callId);
  while (answered.length < calls.length)
    answered.push((await bridge.next('approval')).answer.callId);
  expect(answered.toSorted()).toEqual(calls.map(({ callId }) => callId).toSorted());
});

/** Commands that were handed over while their bridge was away, and what its next welcome brings of them. */
async function waiting(
  commands: readonly string[],
): Promise<{ bridge: ScriptedBridge; welcomed: unknown[] }> {
  const { bridgeId, ...gone } = await left();
  await tunnelOf(bridgeId).dispatch('ada', commands.map(newToolCall));
  const bridge = await openBridge({ bridgeId, ...gone });
  const { calls } = await bridge.greet();
  return { bridge, welcomed: calls.map((call) => call.arguments['command']) };
}

async function left(): Promise<{ bridgeId: string }> {
  const bridge = await connectBridge();
  await bridge.leave();
  return { bridgeId: bridge.bridgeId };
}

/** Setting an alarm takes a moment from here on. */
function slowDown() {
  const count = { begun: 0, ended: 0 };
  const real = Deadlines.prototype.arm;
  vi.spyOn(Deadlines.prototype, 'arm').mockImplementation(async function (this: Deadlines) {
    count.begun += 1;
    await scheduler.wait(200);
    await real.call(this);
    count.ended += 1;
  });
  return count;
}
