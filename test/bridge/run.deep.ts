import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { chmod, mkdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { runBridge } from '../../bridge/run.ts';
import { Journal } from '../../bridge/tunnel/journal.ts';
import type { BridgeStatus } from '../../machine/bridge-status.ts';
import { sha256 } from '../../machine/hash.ts';
import { isAnyoneRunning } from '../../packages/sandbox/test/terminal/plain-launch.ts';
import { newCallId } from '../../shared/ids.ts';
import { TUNNEL_LIMITS } from '../../shared/limits.ts';
import type { Mode } from '../../shared/wire/modes.ts';
import {
  CLOSE,
  type ToolCall,
  type ToolResult,
  TUNNEL_PROTOCOL,
} from '../../shared/wire/tunnel.ts';
import { newDevice } from './admission/device.ts';
import { BRIDGE_ID, killed, spawnBridge } from './spawned-bridge.ts';
import { type TemporaryWorkspace, temporaryWorkspace } from './tools/temporary-workspace.ts';
import { ScriptedTunnel, type TunnelConnection } from './tunnel/scripted-tunnel.ts';
import { newCall } from './tunnel/session-bench.ts';

/** Also where no sandbox works, and every command would ask. */
const COMMANDS_ALLOWED = '{"rules":[{"tool":"run_terminal_cmd","decision":"allow"}]}';

let tunnel: ScriptedTunnel;
let place: TemporaryWorkspace;
let stateDir: string;
beforeEach(async () => {
  tunnel = await ScriptedTunnel.open();
  place = await temporaryWorkspace({ 'a.txt': 'a\n' });
  stateDir = join(place.root, '..', 'state');
  await mkdir(stateDir);
  await writeFile(join(stateDir, 'policy.json'), COMMANDS_ALLOWED);
});
afterEach(async () => await tunnel[Symbol.asyncDispose]());

const configOf = () => ({
  url: tunnel.url,
  token: 'secret',
  bridgeId: BRIDGE_ID,
  workspaceDir: place.root,
  stateDir,
  environment: process.env,
  asksAtTerminal: true,
});

/** The bridge in this process. It ends with the test. */
function startBridge(run = runBridge) {
  const ending = new AbortController();
  const statuses: BridgeStatus[] = [];
  // The index reports whenever it is ready.
  const onStatus = (status: BridgeStatus) => {
    if (status.event !== 'index') statuses.push(status);
  };
  const ended = run({ ...configOf(), onStatus }, ending.signal);
  onTestFinished(async () => {
    ending.abort();
    await ended.catch(() => {});
  });
  return { ending, ended, statuses };
}

/** A bridge that finds its own programs there first. It looks for them in folders of the system alone. */
async function bridgeWithProgramsIn(folder: string): Promise<typeof runBridge> {
  const path = '../../machine/programs.ts';
  vi.resetModules();
  vi.doMock(path, async (importActual) => {
    const actual = await importActual<typeof import('../../machine/programs.ts')>();
    return { ...actual, SYSTEM_PATH: [folder, actual.SYSTEM_PATH].join(delimiter) };
  });
  onTestFinished(() => {
    vi.doUnmock(path);
    vi.resetModules();
  });
  return (await import('../../bridge/run.ts')).runBridge;
}

async function resultOf(connection: TunnelConnection, call: ToolCall): Promise<ToolResult> {
  connection.send({ type: 'call', call });
  const { callId, result } = await connection.next('result');
  expect(callId).toBe(call.callId);
  return result;
}

const command = (line: string) => newCall('run_terminal_cmd', { command: line });
const exists = (name: string) => () =>
  place.text(name).then(
    () => true,
    () => false,
  );

/** A script that notes that it runs, and goes on until the test lets it end. */
async function putJob(): Promise<ToolCall> {
  await place.put('job.sh', 'echo ran >> ran.txt\nuntil [ -e go.txt ]; do sleep 0.05; done\n');
  // A job that outlived its bridge must end before its folder does.
  onTestFinished(async () => {
    await place.put('go.txt', '');
    await vi.waitFor(async () => expect(await isAnyoneRunning('job.sh')).toBe(false));
  });
  return command('sh job.sh');
}

describe('a bridge', () => {
  test('says hello with what it can do, and reports its welcome', async () => {
    const { statuses } = startBridge();
    const connection = await tunnel.connection();
    const hello = await connection.welcome();
    expect(hello).toEqual({
      type: 'hello',
      protocol: TUNNEL_PROTOCOL,
      bridgeId: BRIDGE_ID,
      bootId: expect.any(String),
      tools: expect.arrayContaining(['read_file', 'write', 'run_terminal_cmd']),
      confinement: { kind: expect.any(String), detail: expect.any(String) },
      context: expect.objectContaining({ workspacePath: place.root, projectLayout: 'a.txt' }),
      calls: [],
    });
    await vi.waitFor(() =>
      expect(statuses).toEqual([{ event: 'connected', confinement: hello.confinement }]),
    );
  });

  test('leaves what the owner’s rules forbid out of searches, and says so', async () => {
    const rules = [{ tool: '*', pattern: 'private/*', decision: 'deny' }];
    await writeFile(join(stateDir, 'policy.json'), JSON.stringify({ rules }));
    await place.put('private/b.txt', 'a\n');
    startBridge();
    const connection = await tunnel.connection();
    const { context } = await connection.welcome();
    expect(context.projectLayout).toBe('a.txt');
    const grep = (args: object) => newCall('grep', { pattern: 'a', ...args });
    expect([
      await resultOf(connection, grep({ output_mode: 'files_with_matches' })),
      await resultOf(connection, grep({ path: 'private' })),
    ]).toMatchObject([
      {
        status: 'success',
        data: 'a.txt\n(1 file.)\n(Left out, because the rules of this machine deny it: private/*.)',
      },
      { status: 'error', code: 'DENIED' },
    ]);
  });

  test('shows what the folder looks like when it is asked, and never by itself', async () => {
    startBridge();
    const connection = await tunnel.welcomed();
    await resultOf(connection, newCall('write', { path: 'b.txt', contents: 'b' }));
    await place.put('c.txt', 'by somebody else');
    connection.send({ type: 'look', lookId: 'first' });
    const answer = await connection.next('context');
    expect(answer).toMatchObject({
      lookId: 'first',
      context: { projectLayout: 'a.txt\nb.txt\nc.txt' },
    });
  });

  test('runs a command, shows its output while it runs, and forgets it when it is acked', async () => {
    startBridge();
    const connection = await tunnel.welcomed();
    await place.put('job.sh', 'echo hello\nuntil [ -e go.txt ]; do sleep 0.05; done\necho bye\n');
    const call = command('sh job.sh');
    connection.send({ type: 'call', call });
    expect(await connection.next('output')).toMatchObject({ delta: 'hello\n' });
    await place.put('go.txt', '');
    const { result } = await connection.next('result');
    expect(result).toMatchObject({
      status: 'success',
      metadata: { exitCode: 0, output: 'hello\nbye\n' },
    });
    connection.close();
    const second = await tunnel.connection();
    const { calls } = await second.welcome();
    expect(calls).toEqual([call.callId]);
    second.send({ type: 'ack', callId: call.callId });
    second.close(1000);
    expect(await (await tunnel.connection()).next('hello')).toMatchObject({ calls: [] });
  });

  test('says hello with a journal of 100,000 calls, lists all of them, and runs calls', async () => {
    const result = { status: 'success', data: 'done' };
    const callIds = Array.from({ length: 100_000 }, () => newCallId(randomUUID()));
    const lines = callIds.map((callId) => JSON.stringify({ type: 'finished', callId, result }));
    await writeFile(join(stateDir, 'journal.jsonl'), `${lines.join('\n')}\n`);
    startBridge();
    const connection = await tunnel.connection();
    const { calls } = await connection.welcome();
    expect(JSON.stringify(calls).length).toBeLessThan(TUNNEL_LIMITS.maxFrameBytes / 4);
    while (calls.length < callIds.length) {
      calls.push(...(await connection.next('held_calls')).calls);
    }
    expect(calls).toEqual(callIds);
    const read = newCall('read_file', { target_file: 'a.txt' });
    expect(await resultOf(connection, read)).toMatchObject({ status: 'success' });
    for (const callId of [...callIds, read.callId]) connection.send({ type: 'ack', callId });
    await resultOf(connection, newCall('read_file', { target_file: 'a.txt' }));
    connection.close();
    expect((await (await tunnel.connection()).next('hello')).calls).toHaveLength(1);
  });

  test.each<[Mode, string, object]>([
    ['ask', 'write', { path: 'b.txt', contents: 'b' }],
    ['plan', 'delete_file', { path: 'a.txt' }],
    ['ask', 'run_terminal_cmd', { command: 'touch b.txt' }],
  ])('in mode %s refuses %s by itself', async (mode, tool, args) => {
    startBridge();
    const connection = await tunnel.welcomed();
    const call = { ...newCall(tool, { ...args }), mode };
    expect(await resultOf(connection, call)).toMatchObject({
      status: 'error',
      code: 'DENIED',
      data: expect.stringContaining(`read-only mode ${mode}`),
    });
    expect([await exists('a.txt')(), await exists('b.txt')()]).toEqual([true, false]);
  });

  test('holds a path to the rules by whatever name a call has for it', async () => {
    await place.put('private/a.txt', 'secret');
    await symlink('private', place.path('link'));
    await symlink(place.root, join(stateDir, '../given'));
    const rules = [{ tool: 'read_file', pattern: 'private/*', decision: 'deny' }];
    await writeFile(join(stateDir, 'policy.json'), JSON.stringify({ rules }));
    place = { ...place, root: join(stateDir, '../given') };
    startBridge();
    const connection = await tunnel.welcomed();
    for (const name of ['private/a.txt', 'link/a.txt', join(stateDir, '../given/private/a.txt')]) {
      const result = await resultOf(connection, newCall('read_file', { target_file: name }));
      expect(result).toMatchObject({ status: 'error', code: 'DENIED' });
    }
  });

  test.each([
    ['of the owner', () => join(stateDir, 'policy.json')],
    ['of the workspace', () => place.path('.drawbridge/policy.json')],
  ])(
    'runs nothing while the rules %s are broken, lives on, and runs again when they are repaired',
    async (_, path) => {
      const log = vi.spyOn(console, 'error').mockImplementation(() => {});
      startBridge();
      const connection = await tunnel.welcomed();
      await place.put('.drawbridge/policy.json', '{"rules":[]}');
      const good = await readFile(path(), 'utf8');
      const unknown = '{"rules":[{"tool":"run_terminal","decision":"deny"}]}';
      const wrong = '{"rules":[{"tool":"*","decision":"maybe"}]}';
      for (const broken of ['{"rules":[', wrong, unknown, '']) {
        await writeFile(path(), broken);
        const result = await resultOf(connection, newCall('read_file', { target_file: 'a.txt' }));
        expect(result).toMatchObject({
          status: 'error',
          code: 'DENIED',
          data: expect.stringContaining('policy.json'),
        });
        expect(result.data).not.toContain(stateDir);
      }
      expect(log.mock.calls.map((said) => said.join(' '))).toEqual([
        expect.stringContaining(path()),
        expect.stringContaining(path()),
        expect.stringContaining('no tool or category named run_terminal'),
        expect.stringContaining(path()),
      ]);
      await writeFile(path(), good);
      const result = await resultOf(connection, newCall('read_file', { target_file: 'a.txt' }));
      expect(result).toMatchObject({ status: 'success' });
    },
  );

  test('does not approve anything by device keys that cannot be read', async () => {
    await writeFile(join(stateDir, 'policy.json'), '{"rules":[{"tool":"*","decision":"ask"}]}');
    await writeFile(join(stateDir, 'devices.json'), 'broken');
    startBridge();
    const connection = await tunnel.welcomed();
    const call = newCall('write', { path: 'b.txt', contents: 'b' });
    const { callId } = call;
    connection.send({ type: 'call', call });
    const { nonce } = await connection.next('approval_request');
    connection.send({ type: 'approval', answer: { callId, nonce, decision: 'once' } });
    expect(await connection.next('approval_refused')).toMatchObject({
      callId,
      nonce,
      message: expect.stringContaining('must be signed by a device'),
    });
    expect(await exists('b.txt')()).toBe(false);
  });
});

describe('the limits of a request', () => {
  test('have a person asked about what the owner allows, by the next process too', async () => {
    const device = await newDevice();
    await writeFile(join(stateDir, 'policy.json'), '{"rules":[{"tool":"*","decision":"allow"}]}');
    await writeFile(join(stateDir, 'devices.json'), JSON.stringify({ devices: [device.key] }));
    const limits = { allowedPaths: ['src/'], requireApproval: true };
    const call = { ...newCall('write', { path: 'src/b.txt', contents: 'b' }), limits };
    const { callId, conversationId } = call;
    const question = {
      type: 'approval_request',
      callId,
      nonce: expect.any(String),
      proposal: {
        kind: 'edit',
        tool: 'write',
        path: 'src/b.txt',
        operation: 'create',
        diff: [{ oldString: '', newString: 'b', startLine: 1, endLine: 1 }],
        beforeHash: null,
        afterHash: sha256(Buffer.from('b')),
      },
      reason: 'The request asks for an approval of every write call.',
      newText: 'b',
    };
    const { ending, ended } = startBridge();
    const first = await tunnel.welcomed();
    first.send({ type: 'call', call });
    const { nonce, proposal, ...rest } = await first.next('approval_request');
    expect({ ...rest, nonce, proposal }).toEqual(question);
    ending.abort();
    await ended;

    startBridge();
    const second = await tunnel.welcomed({ calls: [call] });
    expect(await second.next('approval_request')).toEqual({ ...question, nonce });
    expect(await exists('src/b.txt')()).toBe(false);
    const asked = { bridgeId: BRIDGE_ID, nonce, callId, conversationId, proposal };
    const answer = await device.approve(asked);
    second.send({ type: 'approval', answer });
    expect(await second.next('result')).toMatchObject({ callId, result: { status: 'success' } });
    expect(await place.text('src/b.txt')).toBe('b');
  });

  test.each<[string, object, string]>([
    ['run_terminal_cmd', { command: 'touch src/b.txt' }, 'DENIED'],
    ['write', { path: 'b.txt', contents: 'b' }, 'PATH_NOT_ALLOWED'],
    ['grep', { pattern: 'a' }, 'PATH_NOT_ALLOWED'],
  ])('refuse %s %j where only src/ is allowed', async (tool, args, code) => {
    await place.put('src/a.txt', 'a\n');
    startBridge();
    const connection = await tunnel.welcomed();
    const call = { ...newCall(tool, { ...args }), limits: { allowedPaths: ['src/'] } };
    expect(await resultOf(connection, call)).toMatchObject({ status: 'error', code });
    expect([await exists('b.txt')(), await exists('src/b.txt')()]).toEqual([false, false]);
  });
});

describe('a bridge that loses its connection', () => {
  test('reports it once for each reason, however often it tries', async () => {
    // Back soon.
    vi.spyOn(Math, 'random').mockReturnValue(1);
    const { statuses } = startBridge();
    const first = await tunnel.welcomed();
    await resultOf(first, newCall('read_file', { target_file: 'a.txt' }));
    for (const status of [503, 503, 502]) tunnel.turnAway(status);
    first.close();
    const second = await tunnel.welcomed();
    expect(statuses.map((status) => ('reason' in status ? status.reason : status.event))).toEqual([
      'connected',
      'the connection was lost',
      'the server answered 503',
      'the server answered 502',
    ]);
    await resultOf(second, newCall('read_file', { target_file: 'a.txt' }));
    expect(statuses.at(-1)).toMatchObject({ event: 'connected' });
  });

  test('sends results to the new one, also when it was slow to look at the machine on the old one', async () => {
    // Git hangs the first time, until its socket has gone and another one is welcome.
    const bin = join(place.root, '..', 'bin');
    await mkdir(bin);
    const script = `#!/bin/sh\n[ -e ${bin}/first ] && exit 1\ntouch ${bin}/first\nuntil [ -e ${bin}/go ]; do sleep 0.05; done\n`;
    await writeFile(join(bin, 'git'), script);
    await chmod(join(bin, 'git'), 0o755);
    startBridge(await bridgeWithProgramsIn(bin));
    const first = await tunnel.connection();
    await vi.waitFor(() => readFile(join(bin, 'first')));
    first.close();
    const second = await tunnel.welcomed();
    await writeFile(join(bin, 'go'), '');
    await vi.waitFor(async () => expect(await isAnyoneRunning(`${bin}/git`)).toBe(false));
    const result = await resultOf(second, newCall('read_file', { target_file: 'a.txt' }));
    expect(result).toMatchObject({ status: 'success' });
  });
});

describe('a bridge that is refused', () => {
  test.each<[string, () => Promise<void>, string]>([
    [
      'by its token',
      async () => tunnel.turnAway(401, 'UNAUTHENTICATED'),
      "The server refused the bridge's token (401): get a new one.",
    ],
    [
      'as its session has ended',
      async () => (await tunnel.welcomed()).close(CLOSE.sessionEnded),
      'The session of this machine has ended: sign in again.',
    ],
  ])('%s says so, says nothing of another attempt, and ends', async (_, refuse, message) => {
    const refused = refuse();
    const { ended, statuses } = startBridge();
    await refused;
    await ended;
    expect(statuses.filter(({ event }) => event !== 'connected')).toEqual([
      { event: 'refused', message },
    ]);
  });

  test('ends its commands, too', async () => {
    const call = await putJob();
    const { ended } = startBridge();
    const connection = await tunnel.welcomed();
    connection.send({ type: 'call', call });
    await vi.waitUntil(exists('ran.txt'));
    connection.close(CLOSE.sessionEnded);
    await ended;
    expect(await isAnyoneRunning('job.sh')).toBe(false);
  });
});

describe('a bridge that is ended', () => {
  test('leaves no process, no lock and nothing that keeps its own process alive', async () => {
    const bridge = spawnBridge(configOf());
    const exited = once(bridge, 'exit');
    const connection = await tunnel.welcomed();
    const call = await putJob();
    const server = newCall('run_terminal_cmd', { command: 'sh job.sh', is_background: true });
    expect(await resultOf(connection, server)).toMatchObject({ status: 'success' });
    connection.send({ type: 'call', call });
    await vi.waitFor(async () => expect(await place.text('ran.txt')).toBe('ran\nran\n'));
    bridge.kill('SIGTERM');
    expect(await exited).toEqual([0, null]);
    expect(await isAnyoneRunning('job.sh')).toBe(false);
    using journal = Journal.open(join(stateDir, 'journal.jsonl'), 'next');
    expect(journal.lookup(call.callId)).toMatchObject({
      state: 'finished',
      result: { status: 'error', code: 'CANCELLED' },
    });
  });

  test('before it could connect, or while it waits to, ends at once', async () => {
    tunnel.turnAway(503);
    const { ending, ended, statuses } = startBridge();
    await vi.waitUntil(() => statuses.length > 0);
    ending.abort();
    expect(await ended).toBeUndefined();
  });
});

describe('a bridge that is killed in the middle of a command', () => {
  test('does not run it again, says that its outcome is unknown, and runs other calls', async () => {
    const first = spawnBridge(configOf());
    const connection = await tunnel.welcomed();
    const call = await putJob();
    const read = newCall('read_file', { target_file: 'a.txt' });
    connection.send({ type: 'call', call });
    await vi.waitUntil(exists('ran.txt'));
    await killed(first);

    spawnBridge(configOf());
    const next = await tunnel.connection();
    const { calls } = await next.welcome({ calls: [call, read] });
    const results = [await next.next('result'), await next.next('result')];
    expect(calls).toEqual([call.callId]);
    expect(results).toMatchObject([
      { callId: call.callId, result: { status: 'error', code: 'UNKNOWN_OUTCOME' } },
      { callId: read.callId, result: { status: 'success' } },
    ]);
    expect(await place.text('ran.txt')).toBe('ran\n');
  });
});
