import { runDurableObjectAlarm, runInDurableObject } from 'cloudflare:test';
import { expect, it, vi } from 'vitest';
import { RUN_LIMITS } from '../../../shared/limits.ts';
import { CLOSE } from '../../../shared/wire/tunnel.ts';
import { newToolCall } from './calls.ts';
import { connectBridge, openBridge, tunnelOf } from './scripted-bridge.ts';

it('a tunnel ends with its token, with a word and a code that are final', async () => {
  const bridge = await connectBridge({ expires: '1m' });
  await pass(bridge.bridgeId, 61_000);
  expect(await bridge.next('goodbye')).toEqual({
    type: 'goodbye',
    code: 'UNAUTHENTICATED',
    message: "The bridge's token has expired: get a new one.",
  });
  expect(await bridge.closed).toBe(CLOSE.tokenEnded);
  expect(await tunnelOf(bridge.bridgeId).status('ada')).toMatchObject({ connected: false });
});

it('a socket that has not said hello ends with its token too', async () => {
  const bridge = await openBridge({ expires: '1m' });
  await pass(bridge.bridgeId, 61_000);
  expect(await bridge.closed).toBe(CLOSE.tokenEnded);
});

it('a tunnel whose bridge came back with a later token ends with that one', async () => {
  const first = await connectBridge({ expires: '1m' });
  const second = await connectBridge({ bridgeId: first.bridgeId, expires: '2h' });
  expect(await first.closed).toBe(CLOSE.replaced);
  await pass(first.bridgeId, 61_000);
  expect(await socketsOf(first.bridgeId)).toBe(1);
  const alarm = await alarmOf(first.bridgeId);
  expect(Math.abs(alarm - (Date.now() - 61_000 + 2 * 60 * 60_000))).toBeLessThan(5_000);
  await pass(first.bridgeId, 2 * 60 * 60_000);
  expect(await second.closed).toBe(CLOSE.tokenEnded);
});

it('a call that waits for its bridge meanwhile does not move the end of the token', async () => {
  const bridge = await connectBridge({ expires: '1h' });
  const ends = await alarmOf(bridge.bridgeId);
  // Its pings have stopped, so that it counts as away.
  vi.setSystemTime(Date.now() + 10 * 60_000);
  await tunnelOf(bridge.bridgeId).dispatch('ada', [newToolCall()]);
  expect(await alarmOf(bridge.bridgeId)).toBeLessThan(ends);
  await pass(bridge.bridgeId, RUN_LIMITS.bridgeGraceMs + 1);
  expect(await alarmOf(bridge.bridgeId)).toBe(ends);
});

/** Lets the time pass, and the alarm ring. */
async function pass(bridgeId: string, ms: number): Promise<void> {
  vi.setSystemTime(Date.now() + ms);
  await runDurableObjectAlarm(tunnelOf(bridgeId));
}

async function socketsOf(bridgeId: string): Promise<number> {
  return await runInDurableObject(
    tunnelOf(bridgeId),
    (_, state) => state.getWebSockets('bridge').length,
  );
}

async function alarmOf(bridgeId: string): Promise<number> {
  const alarm = await runInDurableObject(tunnelOf(bridgeId), (_, { storage }) =>
    storage.getAlarm(),
  );
  return alarm ?? 0;
}
