/** A bridge that is not heard of, although its socket is open: its machine is asleep, or gone without a word. */
import { runDurableObjectAlarm } from 'cloudflare:test';
import { describe, expect, it, vi } from 'vitest';
import { RUN_LIMITS, TUNNEL_LIMITS } from '../../../shared/limits.ts';
import { HOUR } from '../../../shared/units.ts';
import { Conversation } from '../../../worker/conversation/object.ts';
import { shiftClock } from '../conversation/shifted-clock.ts';
import { newToolCall } from './calls.ts';
import { connectBridge, NONCE, tunnelOf } from './scripted-bridge.ts';

it('hears on waking what was said to it meanwhile, without another welcome', async () => {
  const bridge = await connectBridge();
  const tunnel = tunnelOf(bridge.bridgeId);
  const { callId } = await handOver();
  const clock = shiftClock(TUNNEL_LIMITS.deadMs);
  expect(await tunnel.status('ada')).toMatchObject({ connected: false });
  const answer = { callId, nonce: NONCE, decision: 'reject' as const };
  await tunnel.answer('ada', answer);
  await tunnel.cancel('ada', [callId]);
  clock.aheadMs = 0;
  expect((await bridge.next('approval')).answer).toEqual(answer);
  expect((await bridge.next('cancel')).callId).toBe(callId);

  async function handOver() {
    await tunnel.dispatch('ada', [newToolCall()]);
    return await bridge.nextCall();
  }
});

it('sends a bridge no call that was given up, although that could not be stored at once', async () => {
  const bridge = await connectBridge();
  const tunnel = tunnelOf(bridge.bridgeId);
  const settle = vi.spyOn(Conversation.prototype, 'settle').mockImplementationOnce(() => {
    throw new Error('reset');
  });
  const clock = shiftClock(TUNNEL_LIMITS.deadMs);
  await tunnel.dispatch('ada', [newToolCall()]);
  clock.aheadMs += RUN_LIMITS.bridgeGraceMs;
  await runDurableObjectAlarm(tunnel);
  expect(settle).toHaveBeenCalledTimes(1);
  clock.aheadMs = 0;
  await runDurableObjectAlarm(tunnel);
  expect(settle).toHaveBeenCalledTimes(2);
  expect(bridge.frames).toEqual([]);
});

describe('where the clock was set back by an hour', () => {
  it('does not count as connected for all that time', async () => {
    const clock = shiftClock(HOUR);
    const gone = await connectBridge();
    const tunnel = tunnelOf(gone.bridgeId);
    expect(await tunnel.status('ada')).toMatchObject({ connected: true });
    clock.aheadMs = 0;
    expect(await tunnel.status('ada')).toMatchObject({ connected: false });
    await connectBridge({ bridgeId: gone.bridgeId });
    expect(await tunnel.status('ada')).toMatchObject({ connected: true });
  });

  it('counts as connected with its next ping', async () => {
    const clock = shiftClock(HOUR);
    const bridge = await connectBridge();
    clock.aheadMs = 0;
    bridge.send('ping');
    await vi.waitFor(async () =>
      expect(await tunnelOf(bridge.bridgeId).status('ada')).toMatchObject({ connected: true }),
    );
  });

  it('does not hold its calls for all that time', async () => {
    const bridge = await connectBridge();
    await bridge.leave();
    const tunnel = tunnelOf(bridge.bridgeId);
    const settle = vi.spyOn(Conversation.prototype, 'settle');
    const clock = shiftClock(HOUR);
    const call = newToolCall();
    await tunnel.dispatch('ada', [call]);
    clock.aheadMs = 0;
    await runDurableObjectAlarm(tunnel);
    expect(settle).toHaveBeenCalledWith(call.callId, expect.objectContaining({ status: 'error' }));
  });
});
