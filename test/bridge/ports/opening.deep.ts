import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import {
  OpenPorts,
  PORT_LIMITS,
  type PortAsk,
  type PortsConfig,
} from '../../../bridge/ports/open-ports.ts';
import { reportProcesses } from '../../../bridge/ports/report.ts';
import { signPort } from '../../../client/device.ts';
import { createDevice, type Device } from '../../../client/index.ts';
import { BackgroundProcesses } from '../../../packages/sandbox/terminal/background.ts';
import type { Dialer } from '../../../packages/sandbox/terminal/process-book.ts';
import { aboutCommand, plainLaunch } from '../../../packages/sandbox/test/terminal/plain-launch.ts';
import { portText } from '../../../shared/wire/approval-text.ts';
import { newPasskey } from '../../far-ends/passkey.ts';

const BRIDGE = 'bridge_00000000-0000-4000-8000-000000000001';

describe('a port of a process', () => {
  it('is opened by the yes of an enrolled device, at a loopback address, and carries bytes both ways', async () => {
    const { ports, id, yes } = await withPorts();
    await ports.change(await yes(3000));
    const [open, ...others] = ports.of(id);
    expect([open?.port, others]).toEqual([3000, []]);
    expect(open?.address).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
    const socket = await reached(open?.address);
    socket.write('hello');
    expect(await said(socket, 'hello to you: hello'.length)).toBe('hello to you: hello');
  });

  it.each([
    [
      'of a device that is not enrolled',
      async ({ id }: Place) => asked(id, 3000, (await createDevice('x')).device),
    ],
    ['for another port', async ({ yes }: Place) => ({ ...(await yes(3001)), port: 3000 })],
    [
      'for another process',
      async ({ id, device }: Place) => ({
        ...(await asked('proc_x', 3000, device)),
        processId: id,
      }),
    ],
    [
      'at another bridge',
      async ({ id, device }: Place) => asked(id, 3000, device, `${BRIDGE.slice(0, -1)}2`),
    ],
    ['with another nonce', async ({ yes }: Place) => withNonce(await yes(3000), 'other')],
  ])('is not opened by a yes %s', async (_, ask) => {
    const place = await withPorts();
    await expect(place.ports.change(await ask(place))).rejects.toMatchObject({
      code: 'PORT_REFUSED',
      message: expect.stringContaining('enrolled'),
    });
    expect(place.ports.of(place.id)).toEqual([]);
  });

  it('is not opened by a passkey, whose yes is for one call', async () => {
    const { key, assert } = await newPasskey();
    const { ports, id } = await withPorts({ devices: async () => [key] });
    const text = portText({ bridgeId: BRIDGE, processId: id, port: 3000, nonce: 'once' });
    const { value, ...passkey } = await assert(text);
    const signature = { deviceId: key.deviceId, value, passkey };
    const ask = { processId: id, port: 3000, grant: { nonce: 'once', signature } };
    await expect(ports.change(ask)).rejects.toMatchObject({ code: 'PORT_REFUSED' });
    expect(ports.of(id)).toEqual([]);
  });

  it('is not opened again by a yes that counted before', async () => {
    const { ports, id, yes } = await withPorts();
    const ask = await yes(3000);
    await ports.change(ask);
    await ports.change({ processId: id, port: 3000 });
    expect(ports.of(id)).toEqual([]);
    await expect(ports.change(ask)).rejects.toThrow('already used');
    await ports.change(await yes(3000));
    expect(ports.of(id)).toHaveLength(1);
  });

  it('keeps its address where it is opened twice', async () => {
    const { ports, id, yes } = await withPorts();
    await ports.change(await yes(3000));
    const before = ports.of(id);
    await ports.change(await yes(3000));
    expect(ports.of(id)).toEqual(before);
  });

  it('is closed with its connections when the process ends', async () => {
    const { ports, id, yes, background } = await withPorts();
    await ports.change(await yes(3000));
    const [open] = ports.of(id);
    const socket = await reached(open?.address);
    await background.endAll();
    await once(socket.resume(), 'close');
    expect(ports.of(id)).toEqual([]);
    await expect(reached(open?.address)).rejects.toMatchObject({ code: 'ECONNREFUSED' });
    await expect(ports.change(await yes(3000))).rejects.toThrow('No such process is running.');
  });

  it('is closed with the bridge, and where the network can no longer be entered', async () => {
    for (const end of ['bridge', 'network'] as const) {
      const { ports, id, yes, networks } = await withPorts();
      await ports.change(await yes(3000));
      if (end === 'bridge') ports.end();
      else networks[0]?.abort();
      expect(ports.of(id)).toEqual([]);
    }
  });

  it('is one of a few', async () => {
    const { ports, id, yes } = await withPorts();
    for (let port = 1; port <= PORT_LIMITS.maxOpen; port++) await ports.change(await yes(port));
    await expect(ports.change(await yes(3000))).rejects.toThrow('open already');
    expect(ports.of(id)).toHaveLength(PORT_LIMITS.maxOpen);
  });

  it('that nothing listens at ends the connection', async () => {
    const { ports, id, yes } = await withPorts({ isListening: false });
    await ports.change(await yes(3000));
    const socket = await reached(ports.of(id)[0]?.address);
    await once(socket, 'close');
  });

  it.each([
    [['network'], "uses the machine's own network: open http://localhost:3000"],
    [[], 'cannot be opened on this machine'],
  ] as const)(
    'of a process without a network of its own is not opened: %j',
    async (permissions, why) => {
      const { ports, yes } = await withPorts({ permissions, hasNetwork: false });
      await expect(ports.change(await yes(3000))).rejects.toThrow(why);
    },
  );
});

it('the list of processes has the open ports, and says why one was not opened', async () => {
  const { ports, book, id, yes } = await withPorts();
  const { nonce = '', signature } = (await yes(3000)).grant ?? {};
  const wrong = signature && { nonce: `${nonce}x`, signature };
  const refused = await reportProcesses(book, ports, {
    port: { processId: id, port: 3000, grant: wrong },
  });
  expect(refused).toMatchObject({ items: [{ id }], refused: expect.stringContaining('enrolled') });
  expect(refused.items[0]).not.toHaveProperty('ports');
  const open = await reportProcesses(book, ports, { port: await yes(3000) });
  expect(open).toEqual({ items: [expect.objectContaining({ id, ports: ports.of(id) })] });
});

it('the list of processes has the newest line of a running one, without colours', async () => {
  const { ports, book, id } = await withPorts();
  book.get(id)?.output.append('starting\n\x1b[32mready\x1b[0m at 3000\n');
  expect(await reportProcesses(book, ports, {})).toMatchObject({
    items: [{ id, lastLine: 'ready at 3000' }],
  });
});

it.each([
  ['no device counts', { devices: () => Promise.reject(new Error('broken')) }, 'enrolled'],
  [
    'the log says why',
    { openDialer: () => Promise.reject(new Error('a bug')) },
    'see the log of the bridge',
  ],
] as const)('a port that cannot be opened is refused, and %s', async (_, options, refused) => {
  const { ports, book, id, yes } = await withPorts(options);
  const report = await reportProcesses(book, ports, { port: await yes(3000) });
  expect(report).toMatchObject({ items: [{ id }], refused: expect.stringContaining(refused) });
});

type Place = Awaited<ReturnType<typeof withPorts>>;

interface Options {
  readonly isListening?: boolean;
  readonly hasNetwork?: boolean;
  readonly permissions?: readonly 'network'[];
  readonly devices?: PortsConfig['devices'];
  readonly openDialer?: () => Promise<Dialer>;
}

/** A process whose network is that of this machine, where a server speaks first and then repeats what it is told. */
async function withPorts({
  isListening = true,
  hasNetwork = true,
  permissions = [],
  devices,
  openDialer: own,
}: Options = {}) {
  const server = createServer((socket) => {
    socket.on('error', () => {}).write('hello to you: ');
    socket.pipe(socket);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  const { port } = Object(server.address());
  if (!isListening) server.close();
  const networks: AbortController[] = [];
  const dial = async (): Promise<Dialer> => {
    const network = new AbortController();
    networks.push(network);
    return {
      ended: network.signal,
      connect: async () => {
        const socket = connect(port, '127.0.0.1');
        await once(socket, 'connect');
        return socket;
      },
      [Symbol.dispose]: () => network.abort(),
    };
  };
  const background = new BackgroundProcesses();
  onTestFinished(() => background.endAll());
  const about = {
    ...aboutCommand('sleep 600'),
    permissions,
    ...(hasNetwork && { openDialer: own ?? dial }),
  };
  const { signal } = new AbortController();
  const started = await background.start(plainLaunch('echo up; sleep 600'), {
    about,
    onOutput: () => {},
    signal,
  });
  if (started.end.state !== 'running') throw new Error('the process runs');
  const { id } = started.end.process;
  const { device, enrolment } = await createDevice('laptop');
  const { book } = background;
  const ports = new OpenPorts({
    bridgeId: BRIDGE,
    book,
    devices: devices ?? (async () => [enrolment]),
  });
  onTestFinished(() => ports.end());
  const yes = (wanted: number) => asked(id, wanted, device);
  return { ports, id, yes, background, book, networks, device };
}

async function asked(
  processId: string,
  port: number,
  device: Device,
  bridgeId = BRIDGE,
): Promise<PortAsk> {
  return { processId, port, grant: await signPort(device, { bridgeId, processId, port }) };
}

function withNonce(ask: PortAsk, nonce: string): PortAsk {
  return ask.grant ? { ...ask, grant: { ...ask.grant, nonce } } : ask;
}

async function reached(address = ''): Promise<Socket> {
  const socket = connect(Number(new URL(address).port), '127.0.0.1');
  await once(socket, 'connect');
  return socket;
}

/** The next characters from the other end. */
async function said(socket: Socket, length: number): Promise<string> {
  let text = '';
  for await (const piece of socket) {
    text += String(piece);
    if (text.length >= length) break;
  }
  return text;
}
