import { createServer, type Socket } from 'node:net';
import { jwtVerify } from 'jose';
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import {
  answerMs,
  backoffMs,
  ConnectionRefused,
  failuresAfter,
  stayConnected,
} from '../../../bridge/tunnel/connection.ts';
import { LINK_LIMITS } from '../../../bridge/tunnel/limits.ts';
import type { ConnectionEvents } from '../../../bridge/tunnel/socket.ts';
import { TUNNEL_LIMITS } from '../../../shared/limits.ts';
import { HOUR, MINUTE, SECOND } from '../../../shared/units.ts';
import { DEVICE_ALGORITHM } from '../../../shared/wire/approval-text.ts';
import { helloSubject } from '../../../shared/wire/proof.ts';
import type { BridgeFrame, TunnelFrame } from '../../../shared/wire/tunnel.ts';
import { CLOSE, TUNNEL_PROTOCOL } from '../../../shared/wire/tunnel.ts';
import { portOf } from '../../far-ends/listening.ts';
import { Queue, ScriptedTunnel, type TunnelConnection } from './scripted-tunnel.ts';

const BRIDGE_ID = 'bridge_00000000-0000-4000-8000-000000000001';
const CALL_ID = 'call_00000000-0000-4000-8000-000000000002';
const HELLO: BridgeFrame = {
  type: 'hello',
  protocol: TUNNEL_PROTOCOL,
  bridgeId: BRIDGE_ID,
  bootId: '00000000-0000-4000-8000-000000000003',
  tools: [],
  confinement: { kind: 'none', detail: 'a test' },
  context: { os: 'o', shell: 's', workspacePath: '/w', projectLayout: '' },
  calls: [],
};

/** A connection that says hello, unless the test wants to say it itself, and what its owner hears. */
function connect(url: string, manner: 'polite' | 'silent' = 'polite') {
  const ending = new AbortController();
  onTestFinished(() => ending.abort());
  const [frames, reasons] = [new Queue<TunnelFrame>(), new Queue<string>()];
  const sockets: { send: (frame: BridgeFrame) => void; closed: AbortSignal }[] = [];
  const events: ConnectionEvents = {
    onOpen: (send, closed) => {
      sockets.push({ send, closed });
      if (manner === 'polite') send(HELLO);
    },
    onFrame: (frame) => frames.put(frame),
    onClose: (reason) => reasons.put(reason),
  };
  const ended = stayConnected({ url, token: 'secret', bridgeId: BRIDGE_ID }, events, ending.signal);
  // A test that does not look at it ends it by the signal.
  ended.catch(() => {});
  return { ending, ended, frames, reasons, sockets };
}

let tunnel: ScriptedTunnel;
beforeEach(async () => {
  tunnel = await ScriptedTunnel.open();
  // The shortest waits between attempts.
  vi.spyOn(Math, 'random').mockReturnValue(1);
});
afterEach(async () => {
  await tunnel[Symbol.asyncDispose]();
});

describe('a connection', () => {
  test('goes to its bridge’s address with its token, says hello and passes frames on', async () => {
    const { frames } = connect(tunnel.url);
    const connection = await tunnel.connection();
    expect([connection.path, connection.authorization]).toEqual([
      `/api/v1/bridges/${BRIDGE_ID}/connect`,
      'Bearer secret',
    ]);
    expect(await connection.welcome()).toEqual(HELLO);
    connection.send({ type: 'ack', callId: CALL_ID });
    expect([await frames.take(), await frames.take()]).toEqual([
      {
        type: 'welcome',
        protocol: TUNNEL_PROTOCOL,
        calls: [],
        cancels: [],
        answers: [],
      },
      { type: 'ack', callId: CALL_ID },
    ]);
  });

  test('ends with its signal, without another word to its owner', async () => {
    const { ending, ended, reasons, sockets } = connect(tunnel.url);
    const connection = await tunnel.welcomed();
    const heard = vi.spyOn(reasons, 'put');
    ending.abort();
    await ended;
    await connection.closed;
    expect([heard.mock.calls, sockets[0]?.closed.aborted]).toEqual([[], true]);
  });

  test('ends with its signal while it waits for the next attempt', async () => {
    const { ending, ended, reasons } = connect('http://127.0.0.1:1');
    await reasons.take();
    ending.abort();
    expect(await ended).toBeUndefined();
  });

  test('that is to end before it begins never begins', async () => {
    const events: ConnectionEvents = { onOpen: vi.fn(), onFrame: vi.fn(), onClose: vi.fn() };
    const config = { url: tunnel.url, token: 'secret', bridgeId: BRIDGE_ID };
    await stayConnected(config, events, AbortSignal.abort());
    expect(events.onClose).not.toHaveBeenCalled();
  });

  test('drops a frame that is sent after its socket is gone', async () => {
    const { reasons, sockets } = connect(tunnel.url);
    (await tunnel.welcomed()).close();
    await reasons.take();
    const second = await tunnel.welcomed();
    expect(sockets.map(({ closed }) => closed.aborted)).toEqual([true, false]);
    sockets[0]?.send({ type: 'output', callId: CALL_ID, delta: 'late' });
    sockets[1]?.send({ type: 'output', callId: CALL_ID, delta: 'live' });
    expect(await second.next('output')).toMatchObject({ delta: 'live' });
  });
});

/** The wait of a replaced bridge is a millisecond in this test. */
function shortenReplaced(): void {
  const limits: { replacedMs: number } = LINK_LIMITS;
  const { replacedMs } = limits;
  limits.replacedMs = 1;
  onTestFinished(() => {
    limits.replacedMs = replacedMs;
  });
  expect(replacedMs).toBe(MINUTE);
}

test('a connection that is replaced again after a day is made again', async () => {
  shortenReplaced();
  const { reasons } = connect(tunnel.url);
  const now = vi.spyOn(Date, 'now');
  for (const day of [0, 1, 2]) {
    now.mockReturnValue(Date.UTC(2026, 0, 1 + day, 0, day));
    (await tunnel.welcomed()).close(CLOSE.replaced);
    expect(await reasons.take()).toContain('it tries once more in a minute');
  }
  await tunnel.welcomed();
});

test('a replaced connection is made again once, and never in a loop', async () => {
  shortenReplaced();
  const { ended, reasons } = connect(tunnel.url);
  (await tunnel.welcomed()).close(CLOSE.replaced);
  expect(await reasons.take()).toContain('took its place; it tries once more in a minute');
  const second = await tunnel.welcomed();
  const heard = vi.spyOn(reasons, 'put');
  second.close(CLOSE.replaced);
  await expect(ended).rejects.toThrow(ConnectionRefused);
  await expect(ended).rejects.toThrow('took the place of this bridge twice');
  expect(heard).not.toHaveBeenCalled();
});

test('proves the machine’s key by the challenge of each connection, whatever the clock shows', async () => {
  const aheadMs = 5 * HOUR;
  tunnel.challenge = `${Date.now() + aheadMs}.nonce`;
  const pair = await crypto.subtle.generateKey(DEVICE_ALGORITHM, true, ['sign', 'verify']);
  const { x = '', y = '' } = await crypto.subtle.exportKey('jwk', pair.publicKey);
  const publicKey = { kty: 'EC', crv: 'P-256', x, y } as const;
  const machineKey = { privateKey: pair.privateKey, publicKey };
  const proofs = new Queue<string | undefined>();
  const ending = new AbortController();
  onTestFinished(() => ending.abort());
  const events: ConnectionEvents = {
    onOpen: (_, __, prove) => void prove().then((proof) => proofs.put(proof)),
    onFrame: () => {},
    onClose: () => {},
  };
  const config = { url: tunnel.url, token: 'secret', bridgeId: BRIDGE_ID };
  void stayConnected({ ...config, machineKey }, events, ending.signal);
  const proof = (await proofs.take()) ?? '';
  const { payload, protectedHeader } = await jwtVerify(proof, pair.publicKey);
  expect(protectedHeader).toMatchObject({ alg: 'ES256', jwk: publicKey });
  expect(payload).toMatchObject({
    sub: await helloSubject(BRIDGE_ID, 'secret', tunnel.challenge),
    server: '127.0.0.1',
  });
  expect(Math.abs((payload.iat ?? 0) * SECOND - Date.now() - aheadMs)).toBeLessThan(MINUTE);
  // A server of before sends no challenge, and a bridge without a key has nothing to prove.
  tunnel.challenge = undefined;
  (await tunnel.connection()).close();
  expect(await proofs.take()).toBeUndefined();
});

describe('the connection is made again', () => {
  test.each<[string, number | undefined, string, RegExp]>([
    ['the line was cut', undefined, '', /^the connection was lost$/],
    ['the server asked to try again', 1013, 'try again', /1013 try again/],
    ['the server went away', 1001, '', /1001/],
    ['the server closed without a word', 1000, '', /1000/],
  ])('when %s', async (_, code, said, reason) => {
    const { reasons } = connect(tunnel.url);
    (await tunnel.welcomed()).close(code, said);
    expect(await reasons.take()).toMatch(reason);
    await tunnel.welcomed();
  });

  test.each([500, 502, 503, 429])('when the handshake is answered with %i', async (status) => {
    tunnel.turnAway(status);
    const { reasons } = connect(tunnel.url);
    expect(await reasons.take()).toBe(`the server answered ${status}`);
    await tunnel.welcomed();
  });

  test.each([401, 403, 404])(
    'when something on the way answers with %i to a bridge that was welcomed before',
    async (status) => {
      vi.spyOn(LINK_LIMITS, 'backoffMinMs', 'get').mockReturnValue(10 as never);
      const { reasons, frames } = connect(tunnel.url);
      const first = await tunnel.welcomed();
      await frames.take();
      tunnel.turnAway(status);
      tunnel.turnAway(status, undefined, JSON.stringify({ error: 'no such app' }));
      tunnel.turnAway(status, undefined, 'x'.repeat(100_000));
      first.close();
      const strange = `something else than Drawbridge answered, with status ${status}`;
      expect(await reasons.take()).toMatch(/lost/);
      for (let time = 0; time < 3; time++) expect(await reasons.take()).toBe(strange);
      await tunnel.welcomed();
    },
  );

  test.each<[string, number, (tunnel: ScriptedTunnel, held: TunnelConnection) => void]>([
    ['closes the tunnel of', 1, (_, held) => held.close(CLOSE.tokenEnded)],
    [
      'refuses',
      2,
      (server, held) => {
        server.turnAway(401, 'UNAUTHENTICATED');
        held.close();
      },
    ],
  ])('with another token once the server %s the first', async (_, attempts, end) => {
    let reads = 0;
    const readToken = () => (++reads <= attempts ? 'first' : 'second');
    const config = { url: tunnel.url, token: readToken, bridgeId: BRIDGE_ID };
    const leaving = new AbortController();
    onTestFinished(() => leaving.abort());
    const onFrame = vi.fn();
    const events = { onOpen: (send: (frame: BridgeFrame) => void) => send(HELLO), onFrame };
    const ended = stayConnected(config, { ...events, onClose: vi.fn() }, leaving.signal);
    const held = await tunnel.welcomed();
    expect(held.authorization).toBe('Bearer first');
    await vi.waitFor(() => expect(onFrame).toHaveBeenCalled());
    end(tunnel, held);
    expect((await tunnel.welcomed()).authorization).toBe('Bearer second');
    leaving.abort();
    await ended;
  });

  test('and leaves while its token is still being fetched', async () => {
    const leaving = new AbortController();
    const config = {
      url: tunnel.url,
      token: () => new Promise<string>(() => {}),
      bridgeId: BRIDGE_ID,
    };
    const events = { onOpen: vi.fn(), onFrame: vi.fn(), onClose: vi.fn() };
    const ended = stayConnected(config, events, leaving.signal);
    leaving.abort();
    await ended;
    expect(events.onOpen).not.toHaveBeenCalled();
  });

  test('when nothing listens, with a reason also for a host of several addresses', async () => {
    const { reasons } = connect('http://localhost:1');
    expect(await reasons.take()).toMatch(/ECONNREFUSED/);
  });

  test('when a frame is too large to be taken', async () => {
    const { reasons } = connect(tunnel.url);
    (await tunnel.welcomed()).send('x'.repeat(TUNNEL_LIMITS.maxFrameBytes + 1));
    expect(await reasons.take()).toMatch(/payload size/);
    await tunnel.welcomed();
  });
});

describe('the connection ends for good', () => {
  const goodbye: TunnelFrame = { type: 'goodbye', code: 'X', message: 'Update the bridge.' };

  test.each<[string, number, TunnelFrame[], string]>([
    ['the versions differ', CLOSE.protocolMismatch, [goodbye], 'Update the bridge.'],
    ['a frame is not understood', CLOSE.badFrame, [goodbye], 'Update the bridge.'],
    [
      'the server says only that it does not understand',
      CLOSE.badFrame,
      [],
      'The server and this bridge do not understand each other: update both.',
    ],
  ])('when %s', async (_, code, frames, message) => {
    const { ended, reasons } = connect(tunnel.url);
    const heard = vi.spyOn(reasons, 'put');
    const connection = await tunnel.welcomed();
    for (const frame of frames) connection.send(frame);
    connection.close(code);
    await expect(ended).rejects.toEqual(new ConnectionRefused(message));
    expect(heard).not.toHaveBeenCalled();
  });

  test.each([200, 301, 302, 401, 403, 404])(
    'when something else than Drawbridge answers the first attempt with %i',
    async (status) => {
      tunnel.turnAway(status);
      const message = `No Drawbridge answers at ${tunnel.url} (status ${status}): check the address.`;
      await expect(connect(tunnel.url).ended).rejects.toEqual(new ConnectionRefused(message));
    },
  );

  test('when the token has expired and there is no other one', async () => {
    const { ended } = connect(tunnel.url);
    (await tunnel.welcomed()).close(CLOSE.tokenEnded);
    const message = "The bridge's token has expired: get a new one.";
    await expect(ended).rejects.toEqual(new ConnectionRefused(message));
  });

  test('when the server has no bridges', async () => {
    tunnel.turnAway(404, 'NOT_FOUND');
    const message = `The server has no bridges at ${tunnel.url}: check the address, or update the server.`;
    await expect(connect(tunnel.url).ended).rejects.toEqual(new ConnectionRefused(message));
  });

  test.each([
    [401, 'UNAUTHENTICATED'],
    [403, 'FORBIDDEN'],
  ] as const)('when the token is refused with %i', async (status, code) => {
    tunnel.turnAway(status, code);
    const message = `The server refused the bridge's token (${status}): get a new one.`;
    await expect(connect(tunnel.url).ended).rejects.toEqual(new ConnectionRefused(message));
  });

  test.each<[string, string]>([
    ['no JSON', 'hello?'],
    ['an unknown type', '{"type":"dance"}'],
    ['a call with a bad id', '{"type":"ack","callId":"call_1"}'],
    ['no credit at all', '{"type":"credit","chars":0}'],
    ['a list', '[]'],
    [
      'arguments that nest too deeply',
      `{"type":"call","call":{"callId":"${CALL_ID}","conversationId":"conv_00000000-0000-4000-8000-000000000000","tool":"x","mode":"agent","arguments":${'{"a":'.repeat(20_000)}{}${'}'.repeat(20_000)}}}`,
    ],
  ])('when the server sends %s, and nothing after it counts', async (_, text) => {
    const { ended, frames } = connect(tunnel.url);
    const heard = vi.spyOn(frames, 'put');
    const connection = await tunnel.connection();
    connection.send(text);
    connection.send({ type: 'ack', callId: CALL_ID });
    await expect(ended).rejects.toThrow('a frame that this bridge does not know');
    expect(await connection.closed).toBe(CLOSE.badFrame);
    expect(heard).not.toHaveBeenCalled();
  });

  test.each<[number, string]>([
    [TUNNEL_PROTOCOL + 1, 'update the bridge'],
    [TUNNEL_PROTOCOL - 1, 'update the server'],
  ])('when it is welcomed in version %i, and says: %s', async (protocol, advice) => {
    const { ended } = connect(tunnel.url);
    const connection = await tunnel.welcomed({ protocol });
    await expect(ended).rejects.toThrow(advice);
    expect(await connection.closed).toBe(CLOSE.protocolMismatch);
  });
});

test('a welcome of another version is understood as far as its version, whatever else it says', async () => {
  const { ended } = connect(tunnel.url);
  const connection = await tunnel.connection();
  connection.send(JSON.stringify({ type: 'welcome', protocol: TUNNEL_PROTOCOL + 1, news: {} }));
  await expect(ended).rejects.toThrow('update the bridge');
});

describe('a server that is silent', () => {
  beforeEach(() => {
    vi.useFakeTimers({
      toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval', 'performance'],
    });
  });

  test('is left when it does not answer the hello', async () => {
    const { reasons } = connect(tunnel.url);
    const connection = await tunnel.connection();
    await connection.next('hello');
    vi.advanceTimersByTime(LINK_LIMITS.answerMinMs);
    expect(await reasons.take()).toBe('the server did not answer the hello');
    await connection.closed;
  });

  test('has its time from the hello on, however long this end looks at its machine before', async () => {
    const { reasons, sockets } = connect(tunnel.url, 'silent');
    const connection = await tunnel.connection();
    while (sockets.length === 0) await new Promise(setImmediate);
    vi.advanceTimersByTime(LINK_LIMITS.answerMaxMs);
    sockets[0]?.send(HELLO);
    await connection.next('hello');
    vi.advanceTimersByTime(LINK_LIMITS.answerMinMs - 1);
    expect(sockets[0]?.closed.aborted).toBe(false);
    vi.advanceTimersByTime(1);
    expect(await reasons.take()).toBe('the server did not answer the hello');
  });

  test('ends where the disk of this machine answers nothing that a hello needs', async () => {
    const { reasons, sockets } = connect(tunnel.url, 'silent');
    const connection = await tunnel.connection();
    while (sockets.length === 0) await new Promise(setImmediate);
    vi.advanceTimersByTime(LINK_LIMITS.lookMs);
    expect(await reasons.take()).toBe('the disk of this machine did not answer');
    await connection.closed;
  });

  test('is left when it does not answer the handshake', async () => {
    const connected = Promise.withResolvers<Socket>();
    const port = await portOf(createServer(connected.resolve));
    const { reasons } = connect(`http://127.0.0.1:${port}`);
    const socket = await connected.promise;
    onTestFinished(() => void socket.destroy());
    vi.advanceTimersByTime(LINK_LIMITS.answerMinMs);
    expect(await reasons.take()).toBe('the server did not answer');
  });

  test('is left when it answers no ping, and kept while it does', async () => {
    const { frames, reasons } = connect(tunnel.url);
    const connection = await tunnel.welcomed();
    await frames.take();
    for (let count = 0; count < 10; count++) {
      vi.advanceTimersByTime(LINK_LIMITS.pingMs);
      await connection.pings.take();
      // Comes after the pong.
      connection.send({ type: 'ack', callId: CALL_ID });
      await frames.take();
    }
    connection.isAlive = false;
    vi.advanceTimersByTime(TUNNEL_LIMITS.deadMs + LINK_LIMITS.pingMs);
    expect(await reasons.take()).toBe('the server no longer answers');
    await connection.closed;
  });
});

describe('the wait before another attempt', () => {
  const { backoffMinMs, backoffMaxMs, steadyMs } = LINK_LIMITS;

  test.each<[number, number, number]>([
    [0, 0, backoffMinMs],
    [0, 1, backoffMinMs / 2],
    [1, 0, 2 * backoffMinMs],
    [3, 0.5, 6 * backoffMinMs],
    [10, 0, backoffMaxMs],
    [10, 1, backoffMaxMs / 2],
    [5000, 0, backoffMaxMs],
  ])('after %i failures, with chance %d, is %d ms', (failures, random, expected) => {
    expect(backoffMs(failures, random)).toBe(expected);
  });

  test.each<[string, number, number, number]>([
    ['grows when there was no welcome', 3, 0, 4],
    ['grows when a welcome came to nothing', 3, steadyMs - 1, 4],
    ['starts anew after a connection that held', 3, steadyMs, 0],
  ])('%s', (_, failures, heldMs, expected) => {
    expect(failuresAfter(failures, heldMs)).toBe(expected);
  });

  test('stays short where a server that holds its connections is restarted again and again', () => {
    let failures = 0;
    for (let restart = 0; restart < 100; restart++) {
      failures = failuresAfter(failures, 2 * steadyMs); // The connection was lost.
      failures = failuresAfter(failures, 0); // Nothing listens yet.
      expect(backoffMs(failures, 0)).toBe(2 * backoffMinMs);
    }
  });
});

test.each<[number, number]>([
  [0, LINK_LIMITS.answerMinMs],
  [1, 2 * LINK_LIMITS.answerMinMs],
  [9, LINK_LIMITS.answerMaxMs],
])('after %i failures an attempt has %d ms for each answer', (failures, expected) => {
  expect(answerMs(failures)).toBe(expected);
});
