import { once } from 'node:events';
import { readdirSync, readFileSync, readlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { mintBridgeToken } from '../../local/state/tokens.ts';
import { CLOSE, TUNNEL_PROTOCOL } from '../../shared/wire/tunnel.ts';
import { isAlive, treeOf } from '../local/processes.ts';
import { endProcess, startHouse, until, workerdOf } from './house.ts';
import { oneHouse } from './one-house.ts';

const at = oneHouse();
const ORIGIN = 'https://app.example.com';
/** A second house, without a model, for the tests that need other settings. The last test ends it. */
const starting = startHouse({
  variables: { ALLOWED_ORIGINS: ORIGIN },
  prepare: (workspace) => writeFileSync(join(workspace, 'notes.txt'), 'alpha\nbeta\n'),
});
starting.catch(() => {});
afterAll(async () => await (await starting)[Symbol.asyncDispose]());

it('a thief of the bridge’s token gets nothing, and the bridge goes on', async () => {
  const house = await starting;
  const { bridgeId, url } = house.ready;
  if (bridgeId === null) throw new Error('no bridge');
  const secret = readFileSync(join(house.state, 'auth-secret'), 'utf8');
  const { token } = await mintBridgeToken(secret, bridgeId);
  const context = { os: 'o', shell: 's', workspacePath: house.workspace, projectLayout: '' };
  const hello = {
    ...{ type: 'hello', protocol: TUNNEL_PROTOCOL, bridgeId, bootId: crypto.randomUUID() },
    ...{ tools: [], confinement: { kind: 'none', detail: '' }, context, calls: [] },
  };
  const another = { ...context, workspacePath: '/elsewhere' };
  for (const more of [{}, { moved: true }, { moved: true, context: another }]) {
    const socket = new WebSocket(
      `${url.replace('http', 'ws')}/api/v1/bridges/${bridgeId}/connect`,
      {
        headers: { authorization: `Bearer ${token}` },
      },
    );
    const frames: string[] = [];
    socket.on('message', (data) => frames.push(String(data)));
    socket.on('open', () => socket.send(JSON.stringify({ ...hello, ...more })));
    const [code] = await once(socket, 'close');
    expect(code).toBe(CLOSE.badFrame);
    expect(frames).toEqual([expect.stringContaining('"code":"BRIDGE_UNPROVEN"')]);
    expect(frames.join()).not.toContain(house.workspace);
  }
  const [bridge] = (await house.client.listBridges()).items;
  expect(bridge).toMatchObject({ connected: true, workspacePath: house.workspace });
  expect(bridge).not.toHaveProperty('replaced');
});

it('answers with the demo model over a real folder when no model is configured', async () => {
  const house = await starting;
  expect(house.ready.model).toBe('demo');
  expect((await house.client.listModels()).items).toEqual([
    { id: 'demo', isDefault: true, takesImages: false, isPrivate: true },
  ]);
  expect((await house.client.listTools()).items.map(({ name }) => name)).toContain('read_file');
  expect((await house.client.listBridges()).items).toMatchObject([
    { id: house.ready.bridgeId, connected: true, workspacePath: house.workspace },
  ]);
  expect(await house.client.getMe()).toMatchObject({ account: 'local', scope: 'user' });
  const read = await house.client.chat({ messages: [{ role: 'user', content: 'read notes.txt' }] });
  expect(read.status).toBe('completed');
  expect(read.documents.find(({ type }) => type === 'tool_call')?.metadata).toMatchObject({
    toolName: 'read_file',
    result: { status: 'success', data: expect.stringContaining('2|beta') },
  });
  const edit = await house.client.chat({
    conversationId: read.conversationId,
    messages: [{ role: 'user', content: 'replace beta with gamma in notes.txt' }],
  });
  expect(edit.documents.some(({ type }) => type === 'file_edit')).toBe(true);
  expect(readFileSync(join(house.workspace, 'notes.txt'), 'utf8')).toBe('alpha\ngamma\n');
});

it('closes the connection to the model when the run is cancelled, and stays usable', async () => {
  const { house } = at;
  at.answerWith([
    { text: 'Beginning', hangs: true, frames: [textFrame('Beginning')] },
    { text: 'Again.' },
  ]);
  const stream = house.client.streamChat({ messages: [{ role: 'user', content: 'go' }] });
  let last: string | undefined;
  let conversationId = '';
  for await (const { event } of stream) {
    last = event.type;
    if (event.type === 'response_start') conversationId = event.response.conversationId;
    if (event.type === 'content_delta') {
      const { responses } = await house.client.getConversation(conversationId);
      await house.client.cancel(responses[0]?.id ?? '');
    }
    if (event.type === 'done') expect(event.status).toBe('cancelled');
  }
  expect(last).toBe('done');
  await until(() => at.model.aborted() === 1);
  const next = await house.client.chat({
    conversationId,
    messages: [{ role: 'user', content: 'more' }],
  });
  expect(next).toMatchObject({ status: 'completed', documents: [{ content: 'Again.' }] });
});

it('answers nothing without a token, on any port it opens, and makes nothing for unknown ids', async () => {
  const { house } = at;
  const ports = listeningPorts(treeOf(house.up.pid ?? 0).map(({ pid }) => pid));
  expect(ports).toEqual([Number(new URL(house.ready.url).port)]);
  for (const path of [
    'page/',
    '_headers',
    'api/v1/me',
    'cdn-cgi/explorer',
    'cdn-cgi/explorer/api/do',
    'cdn-cgi/handler/email',
  ]) {
    const response = await fetch(new URL(path, house.ready.url));
    expect([path, response.status]).toEqual([path, 401]);
  }
  const unknown = 'conversations/conv_11111111-1111-4111-8111-111111110000';
  expect((await house.fetch(`/api/v1/${unknown}`)).status).toBe(404);
});

it('lets web pages of the origins in ALLOWED_ORIGINS call it, and by default none', async () => {
  for (const [house, allowed] of [
    [at.house, null],
    [await starting, ORIGIN],
  ] as const) {
    const answer = await house.fetch('/api/v1/me', { headers: { origin: ORIGIN } });
    expect(answer.headers.get('access-control-allow-origin')).toBe(allowed);
  }
});

it('restarts the runtime with the same state on the same port', async () => {
  const { house } = at;
  at.answerWith([{ text: 'kept' }]);
  const before = await house.client.chat({ messages: [{ role: 'user', content: 'keep this' }] });
  process.kill(workerdOf(house), 'SIGKILL');
  await until(async () => {
    try {
      return (await house.fetch('/health')).ok;
    } catch {
      return false;
    }
  });
  expect(await house.client.getResponse(before.id)).toEqual(before);
});

it('leaves no process behind', async () => {
  const house = await starting;
  const tree = treeOf(house.up.pid ?? 0);
  expect(tree.length).toBeGreaterThan(2);
  await endProcess(house.up);
  expect(house.up.exitCode).toBe(0);
  await until(() => tree.every(({ pid }) => !isAlive(pid)));
});

function textFrame(content: string): string {
  return `data: ${JSON.stringify({ choices: [{ index: 0, delta: { content } }] })}\n\n`;
}

/** TCP ports on which one of these processes listens, from /proc. */
function listeningPorts(pids: readonly number[]): number[] {
  const LISTEN = '0A';
  const listening = new Map<string, number>(
    ['tcp', 'tcp6'].flatMap((table) =>
      readFileSync(`/proc/net/${table}`, 'utf8')
        .split('\n')
        .slice(1)
        .map((line) => line.trim().split(/\s+/))
        .filter(([, , , state]) => state === LISTEN)
        .map(([, local = '', , , , , , , , inode = '']): [string, number] => [
          inode,
          Number.parseInt(local.split(':')[1] ?? '', 16),
        ]),
    ),
  );
  const ports = pids.flatMap((pid) => socketsOf(pid).map((inode) => listening.get(inode)));
  return [...new Set(ports.filter((port) => port !== undefined))];
}

function socketsOf(pid: number): string[] {
  try {
    return readdirSync(`/proc/${pid}/fd`).flatMap((fd) => {
      const inode = /^socket:\[(\d+)\]$/.exec(readlinkSync(`/proc/${pid}/fd/${fd}`))?.[1];
      return inode ? [inode] : [];
    });
  } catch {
    return []; // It ended while we looked.
  }
}
