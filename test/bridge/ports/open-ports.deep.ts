/** Ports of real servers in the closed network of a conversation. */
import { connect } from 'node:net';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { OpenPorts } from '../../../bridge/ports/open-ports.ts';
import { signPort } from '../../../client/device.ts';
import { createDevice } from '../../../client/index.ts';
import { SANDBOX_LIMITS } from '../../../packages/sandbox/limits.ts';
import { BackgroundProcesses } from '../../../packages/sandbox/terminal/background.ts';
import {
  freshWorkspace,
  NO_BUBBLEWRAP,
} from '../../../packages/sandbox/test/sandboxed-workspace.ts';
import {
  aboutCommand,
  isAnyoneRunning,
  run,
} from '../../../packages/sandbox/test/terminal/plain-launch.ts';

const BRIDGE = 'bridge_00000000-0000-4000-8000-000000000001';

/** Answers each request with the path and the Host header that came. */
const http = (host: string) =>
  `require("http").createServer((q, s) => s.end(q.url + " " + q.headers.host)).listen(3000, "${host}", () => console.log("up"))`;
const SPEAKS_FIRST = `require("net").createServer((s) => s.end("I speak first")).listen(3000, "127.0.0.1", () => console.log("up"))`;

describe.skipIf(NO_BUBBLEWRAP)(`an open port ${NO_BUBBLEWRAP ?? ''}`, () => {
  test.each(['127.0.0.1', '::1', '0.0.0.0'])('leads to a server at %s', async (host) => {
    const { open } = await served(http(host));
    const { address } = await open();
    const paths = Array.from({ length: 40 }, (_, at) => `/page/${at}`);
    const texts = await Promise.all(
      paths.map(async (path) => (await fetch(`${address}${path}`)).text()),
    );
    expect(texts).toEqual(paths.map((path) => `${path} ${new URL(address).host}`));
  });

  test('leads to a server that speaks first', async () => {
    const { open } = await served(SPEAKS_FIRST);
    const { address } = await open();
    let text = '';
    for await (const piece of connect(Number(new URL(address).port), '127.0.0.1')) text += piece;
    expect(text).toBe('I speak first');
  });

  test('carries megabytes both ways', async () => {
    const { open } = await served(
      `require("http").createServer((q, s) => q.pipe(s)).listen(3000, () => console.log("up"))`,
    );
    const { address } = await open();
    const body = Buffer.alloc(8 * 1024 * 1024, 'a long body ');
    const answer = await fetch(address, { method: 'POST', body });
    expect(Buffer.from(await answer.arrayBuffer()).equals(body)).toBe(true);
  });

  test('leads into the network of its own conversation alone, and nothing is left of it', async () => {
    const first = await served(http('127.0.0.1'));
    const other = await served('console.log("up"); setInterval(() => {}, 1000)', {
      place: first.place,
      conversationId: 'conv_b',
    });
    const { address } = await other.open();
    await expect(fetch(address)).rejects.toThrow();
    const mine = await first.open();
    expect(await (await fetch(mine.address)).text()).toContain('/ 127.0.0.1');
    await first.background.endAll();
    await other.background.endAll();
    expect([first.ports.of(first.id), other.ports.of(other.id)]).toEqual([[], []]);
    await expect(fetch(mine.address)).rejects.toThrow();
    await vi.waitFor(async () => expect(await isAnyoneRunning("['127.0.0.1', '::1']")).toBe(false));
  });

  test('is not there where each command has a network of its own', async () => {
    const { confinement, surroundings } = await freshWorkspace({ isHeld: true });
    const asked = { command: 'true', cwd: surroundings.workspace, permissions: [] };
    const request = { ...asked, conversationId: 'conv_a' };
    const dial = await confinement.start(request, async ({ openDialer }) => openDialer);
    expect(dial).toBeUndefined();
  });

  test('never leads into the network that its conversation got after that of the process', async () => {
    const first = await served(http('127.0.0.1'));
    const { confinement, surroundings } = first.place;
    const enter = async (conversationId: string) => {
      const asked = { command: 'true', cwd: surroundings.workspace, permissions: [] };
      await confinement.start({ ...asked, conversationId }, ({ launch }) => run(launch));
    };
    for (let at = 0; at < SANDBOX_LIMITS.maxConversations; at++) await enter(`conv_other${at}`);
    await enter('conv_a');
    await expect(first.open()).rejects.toMatchObject({
      code: 'PORT_REFUSED',
      message: 'The network of this process cannot be entered any more.',
    });
  });
});

/** A script of Node that serves in the background, and a person who opens its port 3000. */
async function served(
  script: string,
  options: {
    readonly place?: Awaited<ReturnType<typeof freshWorkspace>>;
    readonly conversationId?: string;
  } = {},
) {
  const { place = await freshWorkspace(), conversationId = 'conv_a' } = options;
  const { confinement, surroundings } = place;
  const command = `${await place.node()} -e '${script}'`;
  const background = new BackgroundProcesses();
  onTestFinished(() => background.endAll());
  const request = { command, cwd: surroundings.workspace, permissions: [], conversationId };
  const { signal } = new AbortController();
  const { end, output } = await confinement.start(request, ({ launch, openDialer }) => {
    const about = { ...aboutCommand(command), openDialer };
    return background.start(launch, { about, onOutput: () => {}, signal });
  });
  if (end.state !== 'running') throw new Error(`the server runs: ${output}`);
  const { id } = end.process;
  await vi.waitFor(() => expect(end.process.output.toString()).toBe('up\n'));
  const { device, enrolment } = await createDevice('laptop');
  const { book } = background;
  const ports = new OpenPorts({ bridgeId: BRIDGE, book, devices: async () => [enrolment] });
  onTestFinished(() => ports.end());
  const open = async () => {
    const opened = { bridgeId: BRIDGE, processId: id, port: 3000 };
    await ports.change({ ...opened, grant: await signPort(device, opened) });
    const [port] = ports.of(id);
    if (port === undefined) throw new Error('the port is open');
    return port;
  };
  return { place, background, ports, id, open };
}
