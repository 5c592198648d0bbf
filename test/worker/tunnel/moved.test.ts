import { expect, it } from 'vitest';
import { newSessionKey } from '../../../client/index.ts';
import { newBridgeId, newDeviceId } from '../../../shared/ids.ts';
import { CLOSE } from '../../../shared/wire/tunnel.ts';
import { newToolCall } from './calls.ts';
import { connectBridge, contextOf, openBridge, proofFor, tunnelOf } from './scripted-bridge.ts';

const [here, elsewhere] = [contextOf('a.ts'), { ...contextOf('b.ts'), workspacePath: '/other' }];
const [laptop, desktop] = [1, 2].map(() => newDeviceId(crypto.randomUUID()));
const TODO =
  'Give this folder a bridge of its own (a token made without --bridge-id; for a server of its own, another --state), or let the conversations go on here with --move.';

it.each<
  [
    what: string,
    first: Record<string, unknown>,
    then: Record<string, unknown>,
    refusal: 'place' | 'move' | null,
  ]
>([
  ['the same folder', { context: here }, { context: contextOf('c.ts') }, null],
  ['the same folder and machine', at(here, laptop), at(here, laptop), null],
  ['a folder of a bridge that did not name its machine', { context: here }, at(here, laptop), null],
  ['a bridge that no longer names its machine', at(here, laptop), { context: here }, 'place'],
  ['another folder', { context: here }, { context: elsewhere }, 'place'],
  ['another machine', at(here, laptop), at(here, desktop), 'place'],
  ['another folder and machine', at(here, laptop), at(elsewhere, desktop), 'place'],
  ['another folder, moved', at(here, laptop), { ...at(elsewhere, laptop), moved: true }, 'move'],
  ['another machine, moved', at(here, laptop), { ...at(here, desktop), moved: true }, 'move'],
])('a hello without a key from %s', async (_, first, then, refusal) => {
  const bridgeId = newBridgeId(crypto.randomUUID());
  const before = await openBridge({ bridgeId });
  await before.greet(first);
  const bridge = await openBridge({ bridgeId });
  bridge.hello(then);
  if (refusal === null) return void (await bridge.next('welcome'));
  const message =
    refusal === 'move'
      ? expect.stringContaining('A person must let it move here')
      : `This bridge belongs to another folder or machine than this one. ${TODO}`;
  expect(await bridge.next('goodbye')).toEqual({ type: 'goodbye', code: 'BRIDGE_MOVED', message });
  expect(await bridge.closed).toBe(CLOSE.badFrame);
  // The bridge that was refused has taken nothing over.
  expect(await tunnelOf(bridgeId).status('ada')).toMatchObject({
    connected: true,
    workspacePath: '/work',
  });
});

it('calls for the folder before are given up with a move, and do not run in the new one', async () => {
  const before = await connectBridge();
  const { bridgeId } = before;
  const calls = [newToolCall('sent'), newToolCall('waiting')];
  await tunnelOf(bridgeId).dispatch('ada', calls.slice(0, 1));
  await before.nextCall();
  await before.leave();
  await tunnelOf(bridgeId).dispatch('ada', calls.slice(1));
  const moved = await openBridge({ bridgeId });
  const key = await newSessionKey();
  await tunnelOf(bridgeId).allowMove('ada', key.publicKey);
  const proof = await proofFor(key, moved.challenge);
  expect(await moved.greet({ context: elsewhere, moved: true, proof })).toMatchObject({
    calls: [],
    cancels: [],
  });
  expect(await tunnelOf(bridgeId).status('ada')).toMatchObject({ workspacePath: '/other' });
  const back = await openBridge({ bridgeId });
  back.hello({ context: here, proof: await proofFor(key, back.challenge) });
  expect(await back.next('goodbye')).toMatchObject({ code: 'BRIDGE_MOVED' });
});

function at(context: typeof here, machineId: string | undefined) {
  return { context, machineId };
}
