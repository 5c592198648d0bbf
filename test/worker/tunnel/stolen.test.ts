import { expect, it, vi } from 'vitest';
import { createClient, newSessionKey, sessionTokens } from '../../../client/index.ts';
import { newBridgeId, newDeviceId } from '../../../shared/ids.ts';
import { CLOCK_LIMITS, TUNNEL_LIMITS } from '../../../shared/limits.ts';
import type { ProofSigner } from '../../../shared/wire/proof.ts';
import { CLOSE } from '../../../shared/wire/tunnel.ts';
import { tokenFor } from '../api.ts';
import { SERVER, signIn } from '../people/people.ts';
import { newToolCall } from './calls.ts';
import {
  contextOf,
  openBridge,
  proofFor,
  type ScriptedBridge,
  tunnelOf,
} from './scripted-bridge.ts';

const HERE = { context: contextOf('a.ts'), machineId: newDeviceId(crypto.randomUUID()) };
const ELSEWHERE = { ...HERE, context: { ...HERE.context, workspacePath: '/elsewhere' } };
const ANOTHER = newDeviceId(crypto.randomUUID());

/** A bridge that has brought its machine's key, with a call that it has begun. */
async function connectProven(more: { account?: string; token?: string; bridgeId?: string } = {}) {
  const [machine, bridge] = await Promise.all([newSessionKey(), openBridge(more)]);
  await bridge.greet({ ...HERE, proof: await proofFor(machine, bridge.challenge) });
  const { bridgeId } = bridge;
  const begun = newToolCall('begun');
  await tunnelOf(bridgeId).dispatch(more.account ?? 'ada', [begun]);
  await bridge.nextCall();
  return { bridge, bridgeId, machine, begun };
}

type Proven = Awaited<ReturnType<typeof connectProven>>;

async function expectRefused(thief: ScriptedBridge, code: string): Promise<void> {
  const goodbye = await thief.next('goodbye');
  expect(goodbye).toMatchObject({ code });
  expect(goodbye.message).not.toMatch(/\/work|\/elsewhere/);
  expect(await thief.closed).toBe(CLOSE.badFrame);
  expect(thief.frames).toEqual([]);
}

/** The bridge has lost nothing: it is the one in use, its call is its own, and it takes more. */
async function expectUntouched({ bridge, bridgeId, begun }: Proven): Promise<void> {
  const more = newToolCall('more');
  await tunnelOf(bridgeId).dispatch('ada', [more]);
  expect((await bridge.nextCall()).callId).toBe(more.callId);
  bridge.succeed(begun.callId, 'done');
  expect(await bridge.next('ack')).toMatchObject({ callId: begun.callId });
  const status = { connected: true, workspacePath: '/work' };
  expect(await tunnelOf(bridgeId).status('ada')).toMatchObject(status);
}

/** What a thief of the bridge's token says, who has another key. */
const THEFTS: readonly [
  what: string,
  hello: (thief: ScriptedBridge, key: ProofSigner, of: Proven) => Promise<Record<string, unknown>>,
  code: string,
][] = [
  ['the token alone', async () => HERE, 'BRIDGE_UNPROVEN'],
  ['no machine', async () => ({ context: HERE.context }), 'BRIDGE_UNPROVEN'],
  ['a move without a proof', async () => ({ ...HERE, moved: true }), 'BRIDGE_UNPROVEN'],
  ['a move elsewhere without one', async () => ({ ...ELSEWHERE, moved: true }), 'BRIDGE_UNPROVEN'],
  [
    'a move to a machine without a proof',
    async () => ({ ...HERE, machineId: ANOTHER, moved: true }),
    'BRIDGE_UNPROVEN',
  ],
  [
    'another key',
    async (thief, key) => ({ ...HERE, proof: await proofFor(key, thief.challenge) }),
    'BRIDGE_MOVED',
  ],
  [
    'another key and a move',
    async (thief, key) => ({ ...HERE, moved: true, proof: await proofFor(key, thief.challenge) }),
    'BRIDGE_MOVED',
  ],
  [
    'a proof that was used',
    async (_thief, _key, { bridge, machine }) => ({
      ...HERE,
      proof: await proofFor(machine, bridge.challenge),
    }),
    'BRIDGE_UNPROVEN',
  ],
  [
    'a proof for another token',
    async (thief, _key, { machine }) => ({
      ...HERE,
      proof: await proofFor(machine, { ...thief.challenge, token: 'another' }),
    }),
    'BRIDGE_UNPROVEN',
  ],
  [
    'a proof for another bridge',
    async (thief, _key, { machine }) => ({
      ...HERE,
      proof: await proofFor(machine, {
        ...thief.challenge,
        bridgeId: newBridgeId(crypto.randomUUID()),
      }),
    }),
    'BRIDGE_UNPROVEN',
  ],
  [
    'a proof for another connection',
    async (thief, _key, { machine, bridgeId }) => {
      const { challenge } = (await openBridge({ bridgeId })).challenge;
      const proof = await proofFor(machine, { ...thief.challenge, challenge });
      return { ...HERE, proof };
    },
    'BRIDGE_UNPROVEN',
  ],
  [
    'a proof for another address',
    async (thief, _key, { machine }) => ({
      ...HERE,
      proof: await proofFor(machine, thief.challenge, { server: 'evil.example' }),
    }),
    'BRIDGE_UNPROVEN',
  ],
  [
    'a proof for no address',
    async (thief, _key, { machine }) => ({
      ...HERE,
      proof: await proofFor(machine, thief.challenge, { server: '' }),
    }),
    'BRIDGE_UNPROVEN',
  ],
  ['a text that is no proof', async () => ({ ...HERE, proof: 'x' }), 'BRIDGE_UNPROVEN'],
  ['an empty proof', async () => ({ ...HERE, proof: '' }), 'BRIDGE_UNPROVEN'],
  [
    'the machine’s key with another signature',
    async (thief, key, { machine }) => {
      const signer = { privateKey: key.privateKey, publicKey: machine.publicKey };
      return { ...HERE, proof: await proofFor(signer, thief.challenge) };
    },
    'BRIDGE_UNPROVEN',
  ],
];

it.each(THEFTS)('a thief of a bridge’s token gets in with nothing: %s', async (_, says, code) => {
  const of = await connectProven();
  const thief = await openBridge({ bridgeId: of.bridgeId });
  thief.hello(await says(thief, await newSessionKey(), of));
  await expectRefused(thief, code);
  await expectUntouched(of);
});

it.each([-1, 1])('a proof of another hour counts for nothing (%i)', async (sign) => {
  const of = await connectProven();
  const late = await openBridge({ bridgeId: of.bridgeId });
  const nowMs = Date.now() + sign * (CLOCK_LIMITS.maxOffMs + 5_000);
  late.hello({ ...HERE, proof: await proofFor(of.machine, late.challenge, { nowMs }) });
  expect(await late.closed).toBe(1013);
  expect(late.frames).toEqual([]);
  await expectUntouched(of);
});

it('a second hello on one connection needs another proof, which there is none for', async () => {
  const { bridge, machine } = await connectProven();
  bridge.hello({ ...HERE, proof: await proofFor(machine, bridge.challenge) });
  await expectRefused(bridge, 'BRIDGE_UNPROVEN');
});

it('frames right behind a hello wait for its proof', async () => {
  const of = await connectProven();
  const again = await openBridge({ bridgeId: of.bridgeId });
  again.hello({ ...HERE, proof: await proofFor(of.machine, again.challenge) });
  again.succeed(of.begun.callId, 'done');
  await again.next('welcome');
  expect(await again.next('ack')).toMatchObject({ callId: of.begun.callId });
});

it('the machine’s key moves its bridge, and opens it nowhere else without a move', async () => {
  const { bridgeId, machine } = await connectProven();
  const there = await openBridge({ bridgeId });
  there.hello({ ...ELSEWHERE, proof: await proofFor(machine, there.challenge) });
  await expectRefused(there, 'BRIDGE_MOVED');
  const moved = await openBridge({ bridgeId });
  const proof = await proofFor(machine, moved.challenge);
  await moved.greet({ ...ELSEWHERE, proof, moved: true });
  expect(await tunnelOf(bridgeId).status('ada')).toMatchObject({ workspacePath: '/elsewhere' });
});

it('a signed-in device lets a bridge move to another machine: once, and soon', async () => {
  const account = `ana-${crypto.randomUUID()}`;
  const kept = await signIn(account);
  const bridgeId = newBridgeId(crypto.randomUUID());
  const token = await sessionTokens(SERVER, kept, bridgeId)(undefined, undefined);
  const { machine } = await connectProven({ account, bridgeId, token });
  const desktop = await newSessionKey();
  const client = createClient({ ...SERVER, token: sessionTokens(SERVER, kept) });
  const open = async (key: ProofSigner) => {
    const token = await sessionTokens(SERVER, kept, bridgeId)(undefined, undefined);
    const bridge = await openBridge({ account, bridgeId, token });
    bridge.hello({ ...HERE, moved: true, proof: await proofFor(key, bridge.challenge) });
    return bridge;
  };
  await expectRefused(await open(desktop), 'BRIDGE_MOVED');
  await client.allowMove(bridgeId, desktop.publicKey);
  vi.setSystemTime(Date.now() + TUNNEL_LIMITS.moveMs + 1_000);
  await expectRefused(await open(desktop), 'BRIDGE_MOVED');
  vi.useRealTimers();
  await client.allowMove(bridgeId, desktop.publicKey);
  await expectRefused(await open(await newSessionKey()), 'BRIDGE_MOVED');
  await (await open(desktop)).next('welcome');
  // The key of before is that of another machine now, and the permission is used up.
  await expectRefused(await open(machine), 'BRIDGE_MOVED');
  await (await open(desktop)).next('welcome');
  const { items } = await client.listRecords();
  expect(items).toContainEqual(
    expect.objectContaining({ action: 'bridge_move_allowed', session: kept.session }),
  );
});

it.each([
  ['a bridge’s token', { scope: 'bridge' }],
  ['a token of another account', { scope: 'user' }],
])('%s lets no bridge move', async (_, claims) => {
  const { bridgeId } = await connectProven();
  const account = claims.scope === 'bridge' ? 'ada' : 'eve';
  const token = await tokenFor({ account, claims: { ...claims, bridge: bridgeId } });
  const { publicKey } = await newSessionKey();
  const moving = createClient({ ...SERVER, token }).allowMove(bridgeId, publicKey);
  await expect(moving).rejects.toMatchObject({
    code: claims.scope === 'bridge' ? 'FORBIDDEN' : 'NOT_FOUND',
  });
});

it('a process that takes the place of another one shows on the devices of the owner, and is recorded', async () => {
  const account = `ana-${crypto.randomUUID()}`;
  const bridgeId = newBridgeId(crypto.randomUUID());
  const machine = await newSessionKey();
  const token = await tokenFor({ account, claims: { scope: 'user' } });
  const client = createClient({ ...SERVER, token });
  const connect = async (bootId: string) => {
    const bridge = await openBridge({ account, bridgeId });
    await bridge.greet({ ...HERE, bootId, proof: await proofFor(machine, bridge.challenge) });
    return bridge;
  };
  const [first, second] = [crypto.randomUUID(), crypto.randomUUID()];
  const before = await connect(first);
  // The same process comes back over another line, while the old one looks alive.
  await connect(first);
  expect(await before.closed).toBe(CLOSE.replaced);
  expect(await client.getBridge(bridgeId)).not.toHaveProperty('replaced');
  await connect(second);
  expect(await client.getBridge(bridgeId)).toMatchObject({ replaced: expect.any(String) });
  const { items } = await client.listRecords();
  expect(items.map(({ action }) => action)).toEqual(['bridge_replaced', 'bridge_added']);
});

it('a bridge of before works until its first proof, which binds it', async () => {
  const bridgeId = newBridgeId(crypto.randomUUID());
  const machine = await newSessionKey();
  for (let time = 0; time < 2; time++) await (await openBridge({ bridgeId })).greet(HERE);
  const proven = await openBridge({ bridgeId });
  await proven.greet({ ...HERE, proof: await proofFor(machine, proven.challenge) });
  const before = await openBridge({ bridgeId });
  before.hello(HERE);
  const { message } = await before.next('goodbye');
  expect(message).toContain('update Drawbridge on this machine');
});
