import { runInDurableObject } from 'cloudflare:test';
import { describe, expect, it, vi } from 'vitest';
import { newBridgeId, newCallId } from '../../../shared/ids.ts';
import { CLOSE, TUNNEL_PROTOCOL } from '../../../shared/wire/tunnel.ts';
import { Account } from '../../../worker/account/object.ts';
import { call, errorOf, tokenFor } from '../api.ts';
import { connectBridge, openBridge, requestBridge, tunnelOf } from './scripted-bridge.ts';

it('welcomes a bridge with what is open for it: at first nothing', async () => {
  const bridge = await openBridge();
  expect(await bridge.greet()).toEqual({
    type: 'welcome',
    protocol: TUNNEL_PROTOCOL,
    calls: [],
    cancels: [],
    answers: [],
  });
});

it('acks calls of the journal that it does not know, so that the journal lets them go', async () => {
  const callId = newCallId(crypto.randomUUID());
  const bridge = await openBridge();
  await bridge.greet({ calls: [callId] });
  expect(await bridge.next('ack')).toEqual({ type: 'ack', callId });
  bridge.succeed(callId, 'of a call that never was');
  expect(await bridge.next('ack')).toEqual({ type: 'ack', callId });
});

it('acks those as well that one hello cannot list', async () => {
  const [first, ...more] = Array.from({ length: 3 }, () => newCallId(crypto.randomUUID()));
  const bridge = await openBridge();
  await bridge.greet({ calls: [first] });
  bridge.send({ type: 'held_calls', calls: more });
  const acked = [];
  while (acked.length < 3) acked.push((await bridge.next('ack')).callId);
  expect(acked).toEqual([first, ...more]);
});

it('answers a ping without any frame', async () => {
  const bridge = await connectBridge();
  bridge.send('ping');
  bridge.send({ type: 'context', lookId: 'late', context: contextOf('b.ts') });
  bridge.succeed(newCallId(crypto.randomUUID()), '');
  expect((await bridge.next('ack')).type).toBe('ack');
  expect(bridge.frames).toEqual([]);
});

it('knows the bridge by its last context', async () => {
  const bridge = await connectBridge();
  bridge.send({ type: 'context', lookId: 'late', context: contextOf('new.ts') });
  bridge.succeed(newCallId(crypto.randomUUID()), '');
  await bridge.next('ack');
  const described = await tunnelOf(bridge.bridgeId).describe('ada');
  expect(described?.context.projectLayout).toBe('new.ts');
});

describe('a connection is refused for good', () => {
  it.each<[string, Record<string, unknown> | string, number, string, string]>([
    [
      'of an older bridge',
      { protocol: TUNNEL_PROTOCOL - 1 },
      CLOSE.protocolMismatch,
      'PROTOCOL_MISMATCH',
      'update the bridge',
    ],
    [
      'of a newer bridge',
      { protocol: TUNNEL_PROTOCOL + 1 },
      CLOSE.protocolMismatch,
      'PROTOCOL_MISMATCH',
      'update the server',
    ],
    [
      'of a bridge of another version, whatever its hello looks like',
      { type: 'hello', protocol: TUNNEL_PROTOCOL - 1, calls: {} },
      CLOSE.protocolMismatch,
      'PROTOCOL_MISMATCH',
      'update the bridge',
    ],
    [
      'that names another bridge than its token',
      { bridgeId: newBridgeId(crypto.randomUUID()) },
      CLOSE.badFrame,
      'WRONG_BRIDGE',
      'another bridge',
    ],
    [
      'that begins with another frame',
      { type: 'output', callId: newCallId(crypto.randomUUID()), delta: 'x' },
      CLOSE.badFrame,
      'NO_HELLO',
      'hello',
    ],
    ['with a frame of an unknown type', { type: 'sing' }, CLOSE.badFrame, 'BAD_FRAME', 'frame'],
    ['with text that is no JSON', '{"type": "hel', CLOSE.badFrame, 'BAD_FRAME', 'frame'],
    [
      'with a hello that lacks its fields',
      { type: 'hello', protocol: TUNNEL_PROTOCOL },
      CLOSE.badFrame,
      'BAD_FRAME',
      '',
    ],
  ])('%s', async (_, frame, closeCode, code, message) => {
    const bridge = await openBridge();
    if (typeof frame === 'string' || 'type' in frame) bridge.send(frame);
    else bridge.hello(frame);
    expect(await bridge.next('goodbye')).toMatchObject({
      code,
      message: expect.stringContaining(message),
    });
    expect(await bridge.closed).toBe(closeCode);
    expect(await tunnelOf(bridge.bridgeId).describe('ada')).toBeNull();
  });
});

it('lets the newest connection win, and the older one knows why', async () => {
  const older = await connectBridge();
  const newer = await connectBridge({ bridgeId: older.bridgeId });
  expect(await older.closed).toBe(CLOSE.replaced);
  newer.succeed(newCallId(crypto.randomUUID()), '');
  expect((await newer.next('ack')).type).toBe('ack');
});

it('does not let an older connection win that introduces itself late', async () => {
  const older = await openBridge();
  const newer = await connectBridge({ bridgeId: older.bridgeId });
  older.hello();
  expect(await older.closed).toBe(CLOSE.replaced);
  newer.succeed(newCallId(crypto.randomUUID()), '');
  expect((await newer.next('ack')).type).toBe('ack');
});

it('sends a bridge away for a moment whose account did not take the report', async () => {
  vi.spyOn(Account.prototype, 'bridgeConnected').mockImplementationOnce(() => {
    throw new Error('reset');
  });
  const bridge = await openBridge();
  bridge.hello();
  expect(await bridge.closed).toBe(1013);
  expect(bridge.frames).toEqual([]);
});

it('takes no connection for newer that has not introduced itself', async () => {
  const older = await openBridge();
  const newer = await openBridge({ bridgeId: older.bridgeId });
  expect((await older.greet()).type).toBe('welcome');
  expect((await newer.greet()).type).toBe('welcome');
});

it.each([1000, 1001, 1006, 1015, 3000])(
  'takes the next connection after one that ended with %i',
  async (code) => {
    const { bridgeId } = await connectBridge();
    await runInDurableObject(tunnelOf(bridgeId), async (tunnel, state) => {
      const [socket] = state.getWebSockets();
      if (!socket) throw new Error('no socket');
      await tunnel.webSocketClose(socket, code);
    });
    const next = await openBridge({ bridgeId });
    expect((await next.greet()).type).toBe('welcome');
  },
);

it('refuses a bridge of another account, and its use', async () => {
  const bridge = await connectBridge({ account: 'ada' });
  const { bridgeId } = bridge;
  const refused = await requestBridge({ account: 'eve', bridgeId });
  expect(await errorOf(refused)).toMatchObject({ status: 403, code: 'FORBIDDEN' });
  const body = { messages: [{ role: 'user', content: 'go' }], bridgeId };
  const chat = await call('chat/completions', { account: 'eve', body });
  expect(await errorOf(chat)).toMatchObject({ status: 404, code: 'NOT_FOUND' });
  expect(await tunnelOf(bridgeId).describe('eve')).toBeNull();
});

it('a bridge belongs to the account of its first hello', async () => {
  const eve = await openBridge({ account: 'eve' });
  const ada = await connectBridge({ account: 'ada', bridgeId: eve.bridgeId });
  eve.hello();
  expect(await eve.closed).toBe(CLOSE.badFrame);
  expect(eve.frames).toMatchObject([{ type: 'goodbye' }]);
  ada.succeed(newCallId(crypto.randomUUID()), '');
  expect((await ada.next('ack')).type).toBe('ack');
});

describe('the route', () => {
  const bridgeId = newBridgeId(crypto.randomUUID());
  const other = newBridgeId(crypto.randomUUID());
  it.each<[string, string, Record<string, unknown>, number]>([
    ['a user’s token', bridgeId, { scope: 'user' }, 403],
    ['the token of another bridge', bridgeId, { scope: 'bridge', bridge: other }, 403],
    ['an id of a wrong form', 'x', { scope: 'bridge', bridge: 'x' }, 401],
    ['no upgrade to a WebSocket', bridgeId, { scope: 'bridge', bridge: bridgeId }, 400],
  ])('refuses %s', async (_, id, claims, status) => {
    const authorization = `Bearer ${await tokenFor({ claims })}`;
    const response = await call(`bridges/${id}/connect`, { headers: { authorization } });
    expect(response.status).toBe(status);
  });
});

function contextOf(projectLayout: string) {
  return { os: 'TestOS', shell: 'sh', workspacePath: '/work', projectLayout };
}
