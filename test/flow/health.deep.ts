import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer, connect as dial } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createClient } from '../../client/index.ts';
import { uniqueKeyOf } from '../../local/runtime/workerd-config.ts';
import { bridgeLogOf } from '../../local/state/folder.ts';
import { openState } from '../../local/state/state.ts';
import { mintToken } from '../../local/state/tokens.ts';
import { type ScriptedModel, startScriptedModel } from '../far-ends/scripted-model.ts';
import { DRAWBRIDGE, endProcess, type House, startHouse, until } from './house.ts';

type Line = Readonly<Record<string, unknown>>;

let model: ScriptedModel;
let house: House;
let relay: Relay;
let bridge: ChildProcess;
let bridgeId: string;

/** Another one than the server's. */
const bridgeState = () => join(house.folder, 'bridge');
beforeAll(async () => {
  model = await startScriptedModel(({ messages }) => {
    const [, name = ''] = /Read (\w+\.txt)/.exec(JSON.stringify(messages.slice(1))) ?? [];
    if (messages.at(-1)?.role !== 'tool') return reading(name);
    return name === 'none.txt' ? { status: 401, body: '{"error":{}}' } : { text: 'Done.' };
  });
  house = await startHouse({ modelUrl: model.baseUrl, args: ['--no-bridge'] });
  relay = await startRelay(Number(new URL(house.ready.url).port));
  ({ bridge, bridgeId } = await connect(relay.url));
});

afterAll(async () => {
  if (bridge) await endProcess(bridge);
  relay?.close();
  await house?.[Symbol.asyncDispose]();
  await model?.close();
});

function reading(name: string) {
  return { calls: [{ name: 'read_file', arguments: { target_file: name } }] };
}

/** Everything that the server's end of the tunnel has sent to the bridge. */
interface Relay {
  readonly url: string;
  readonly sent: () => string;
  close(): void;
}

async function startRelay(port: number): Promise<Relay> {
  let sent = '';
  const server = createServer((near) => {
    const far = dial(port, '127.0.0.1');
    far.on('data', (bytes) => {
      sent += bytes.toString('latin1');
    });
    far.pipe(near);
    near.once('data', (handshake) => {
      far.write(uncompressed(handshake));
      near.pipe(far);
    });
    for (const end of [near, far]) end.on('error', () => [near, far].map((one) => one.destroy()));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port: own } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${own}`, sent: () => sent, close: () => server.close() };
}

/** The request for a WebSocket whose frames can be read on the way. */
function uncompressed(handshake: Buffer): string {
  return handshake.toString('latin1').replace(/^sec-websocket-extensions:.*\r\n/im, '');
}

/** `drawbridge connect`, as a person starts it. */
async function connect(url: string) {
  const place = { workspaceDir: house.workspace, stateDir: house.state };
  const { authSecret } = await openState(place);
  const id = `bridge_${crypto.randomUUID()}`;
  const token = await mintToken(authSecret, { scope: 'bridge', bridgeId: id }, new Date());
  const words = ['--workspace', house.workspace, '--state', bridgeState()];
  const child = spawn(process.execPath, [DRAWBRIDGE, 'connect', url, ...words], {
    env: { ...process.env, DRAWBRIDGE_TOKEN: token },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  child.stderr.resume();
  await until(async () => (await house.client.listBridges()).items.some((one) => one.connected));
  return { bridge: child, bridgeId: id };
}

function linesOf(path: string, trace: string): Line[] {
  const lines = readFileSync(path, 'utf8').split('\n');
  const entries: Line[] = lines
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line));
  return entries.filter((entry) => entry['trace'] === trace);
}

const drawbridge = (words: string[]) =>
  promisify(execFile)(process.execPath, [DRAWBRIDGE, ...words]);
const workerLog = () => join(house.state, 'logs', 'workerd.log');
const bridgeLog = () => bridgeLogOf(join(bridgeState(), 'logs'), house.workspace);

function newTrace() {
  const trace = crypto.randomUUID().replaceAll('-', '');
  return { trace, headers: { traceparent: `00-${trace}-00f067aa0ba902b7-01` } };
}

async function ask(content: string, headers: Record<string, string>) {
  const body = JSON.stringify({ messages: [{ role: 'user', content }], bridgeId });
  const init = { method: 'POST', headers, body };
  const response = await house.fetch('/api/v1/chat/completions', init);
  const header = response.headers.get('drawbridge-trace-id');
  return { header, answer: Object(await response.json()) };
}

describe('a client’s trace id', () => {
  it('is in every record of a run that succeeds, at both ends of the tunnel', async () => {
    const { trace, headers } = newTrace();
    writeFileSync(join(house.workspace, 'mine.txt'), 'mine');
    const { header, answer } = await ask('Read mine.txt', headers);
    expect([header, answer.status]).toEqual([trace, 'completed']);
    const { id: run, conversationId: conversation, documents } = answer;
    const call = documents[0].metadata.toolCallId;
    const ended = { event: 'call_ended', tool: 'read_file', status: 'success' };
    const about = { conversation, run, call, durationMs: expect.any(Number) };
    const seen = () => linesOf(workerLog(), trace).map(({ event }) => event);
    const events = ['run_started', 'turn_ended', 'call_ended', 'turn_ended', 'run_ended'];
    await expect.poll(seen).toEqual(events);
    expect(linesOf(workerLog(), trace)[2]).toMatchObject({ ...ended, ...about });
    await expect
      .poll(() => linesOf(bridgeLog(), trace))
      .toEqual([{ ...TIMED, level: 'info', ...ended, ...about, trace, bridge: bridgeId }]);
    expect(relay.sent()).toContain(`"trace":"${trace}"`);
  });

  it('is in every record of a run that fails, and in the errors of its tool and its model', async () => {
    const { trace, headers } = newTrace();
    const { header, answer } = await ask('Read none.txt', headers);
    expect([header, answer.status]).toEqual([trace, 'error']);
    const errors = answer.documents.filter(({ type }: { type: string }) => type === 'error');
    expect(errors.map(({ metadata }: { metadata: object }) => metadata)).toMatchObject([
      { errorCode: 'FILE_NOT_FOUND', source: 'read_file', traceId: trace },
      { errorCode: 'UPSTREAM_ERROR', traceId: trace },
    ]);
    const { id: run, conversationId: conversation } = answer;
    const seen = () => linesOf(workerLog(), trace).map(({ event, code }) => [event, code]);
    await expect.poll(seen).toEqual([
      ['run_started', undefined],
      ['turn_ended', undefined],
      ['call_ended', 'FILE_NOT_FOUND'],
      ['turn_ended', undefined],
      ['run_ended', 'UPSTREAM_ERROR'],
    ]);
    await expect
      .poll(() => linesOf(bridgeLog(), trace))
      .toMatchObject([
        { event: 'call_ended', status: 'error', code: 'FILE_NOT_FOUND', conversation, run },
      ]);
    const words = ['logs', 'worker', '--state', house.state, '--lines', '1', '--trace', trace];
    expect((await drawbridge(words)).stdout).toMatch(
      new RegExp(`^\\S+ run_ended trace=${trace} .*UPSTREAM_ERROR.*\\n$`),
    );
    expect(relay.sent()).toContain(`"trace":"${trace}"`);
  });

  it('is in the error of a client whose request is refused', async () => {
    const { trace, headers } = newTrace();
    const { url, token } = house.ready;
    const traced: typeof fetch = (input, init) => {
      const all = new Headers(init?.headers);
      all.set('traceparent', headers.traceparent);
      return fetch(input, { ...init, headers: all });
    };
    const client = createClient({ url, token, fetch: traced });
    const asked = client.getConversation('conv_00000000-0000-4000-8000-000000000000');
    await expect(asked).rejects.toMatchObject({ code: 'NOT_FOUND', status: 404, traceId: trace });
  });
});

it('a conversation that cannot be deleted is logged with the trace id of the request', async () => {
  const before = await startHouse();
  await using after = await reopen(before, async ({ client, state }) => {
    await client.chat({ messages: [{ role: 'user', content: 'hello' }] });
    return () => damage(join(state, 'storage', uniqueKeyOf('Conversation')));
  });
  const [{ id: conversation } = { id: '' }] = (await after.client.listConversations()).items;
  const { trace, headers } = newTrace();
  const init = { method: 'DELETE', headers };
  const response = await after.fetch(`/api/v1/conversations/${conversation}`, init);
  const body = await response.json();
  expect(body).toMatchObject({ error: { code: 'DAMAGED', traceId: trace } });
  const failed = expect.objectContaining({ level: 'error', event: 'delete_failed', conversation });
  const log = join(after.state, 'logs', 'workerd.log');
  await expect.poll(() => linesOf(log, trace)).toContainEqual(failed);
  expect((await after.client.listConversations()).items).toEqual([]);
});

/** The same house after a restart. `use` returns what happens to its state meanwhile. */
async function reopen(house: House, use: (house: House) => Promise<() => void>): Promise<House> {
  const meanwhile = await use(house);
  await endProcess(house.up);
  meanwhile();
  return await startHouse({ folder: house.folder });
}

/** Writes over the beginning of each object's database. */
function damage(folder: string): void {
  for (const name of readdirSync(folder).filter((name) => name.endsWith('.sqlite'))) {
    const path = join(folder, name);
    if (name === 'metadata.sqlite') continue;
    writeFileSync(path, Buffer.alloc(statSync(path).size, 'x'));
  }
}

it('the log of `connect` is found by `drawbridge logs`, in words and as JSON', async () => {
  const logs = async (...words: string[]) =>
    (await drawbridge(['logs', 'bridge', '--state', bridgeState(), ...words])).stdout;
  await until(async () => (await logs()).includes(' bridge_connected '));
  const [line = ''] = (await logs('--json', '--lines', '1000')).split('\n');
  expect(JSON.parse(line)).toEqual({
    ...TIMED,
    level: 'info',
    event: 'bridge_connected',
    bridge: bridgeId,
    message: expect.any(String),
  });
});

const TIMED = { time: expect.stringMatching(/^20\d\d-.*Z$/) };
