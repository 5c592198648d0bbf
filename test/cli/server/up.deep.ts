import { once } from 'node:events';
import { existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { createServer } from 'node:net';
import { homedir } from 'node:os';
import { delimiter, join, resolve } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { openState } from '../../../local/state/state.ts';
import { isAlive, treeOf } from '../../local/processes.ts';
import { temporaryFolder } from '../../local/temporary-folder.ts';
import { DRAWBRIDGE } from '../bundle.ts';
import { callDrawbridge } from '../called.ts';
import {
  newPlace,
  runDrawbridge,
  startDrawbridge,
  startReady,
  upArguments,
} from '../drawbridge.ts';
import { HAS_TERMINALS, openPseudoTerminal } from '../pseudo-terminal.ts';

/** Keys of models and others, one of which the table of models names. */
const SECRETS = {
  MODELS: '[{"id": "fast", "baseUrl": "https://fast.test/v1", "keyName": "FAST_KEY"}]',
  FAST_KEY: 'a',
  OPENAI_API_KEY: 'b',
  GROQ_API_KEY: 'c',
  AWS_SECRET_ACCESS_KEY: 'd',
  npm_config_KEY: 'e',
  SOME_TOKEN: 'f',
};

const readJson = (path: string) => JSON.parse(readFileSync(path, 'utf8'));
const oneLine = expect.stringMatching(/^drawbridge: [^\n]+\n$/);

describe('up', () => {
  test('says on one line of stdout where it is, and that is true', async () => {
    const place = newPlace();
    const { ready, process, finished } = await startReady(place);
    const state = await openState(place);
    expect(ready).toEqual({
      event: 'ready',
      url: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+$/),
      token: readFileSync(join(place.stateDir, 'token'), 'utf8'),
      bridgeId: state.bridgeId,
      model: 'demo',
    });
    expect((await fetch(`${ready.url}/health`)).status).toBe(200);
    process.kill('SIGTERM');
    expect(await finished).toEqual({ code: 0, stdout: `${JSON.stringify(ready)}\n`, stderr: '' });
  });

  test('names the model that answers', async () => {
    const env = {
      OPENAI_BASE_URL: 'http://127.0.0.1:1/v1',
      OPENAI_API_KEY: 'key',
      OPENAI_MODEL: 'qwen',
    };
    const { ready } = await startReady(newPlace(), [], env);
    expect(ready.model).toBe('qwen');
    expect(await (await fetch(`${ready.url}/variables`)).json()).toMatchObject(env);
  });

  test('starts a bridge that has its token and no other secret in its environment', async () => {
    const place = newPlace();
    const { ready } = await startReady(place, [], SECRETS);
    expect(readJson(join(place.stateDir, 'bridge-saw.json'))).toEqual({
      url: ready.url,
      token: expect.stringMatching(/^ey/),
      bridgeId: ready.bridgeId,
      workspaceDir: place.workspaceDir,
      stateDir: place.stateDir,
      machineDir: place.stateDir,
      machineId: expect.stringMatching(/^device_/),
      machineKey: expect.objectContaining({ privateKey: {} }),
      asksAtTerminal: true,
      preset: 'workspace',
      codeInPrompt: ['agent', 'plan', 'ask'],
      devicesMayAllowAlways: false,
      devicesNeedPasskey: false,
      configDir: expect.any(String),
      programs: [expect.any(String)],
      environment: [],
    });
  });

  test('runs without a bridge when asked to', async () => {
    const place = newPlace();
    const { ready, process } = await startReady(place, ['--no-bridge']);
    expect(ready.bridgeId).toBeNull();
    // up, workerd, its lifeline
    expect(treeOf(process.pid ?? 0)).toHaveLength(3);
  });

  test.each(['SIGINT', 'SIGTERM', 'SIGHUP'] as const)('%s ends everything', async (signal) => {
    const place = newPlace();
    const { process: up, finished } = await startReady(place);
    const tree = treeOf(up.pid ?? 0);
    // up, workerd, its lifeline, the bridge
    expect(tree).toHaveLength(4);
    up.kill(signal);
    expect((await finished).code).toBe(0);
    expect(tree.filter(({ pid }) => isAlive(pid))).toEqual([]);
  });

  test('a Worker and a bridge that are killed come back', async () => {
    const place = newPlace();
    const { ready, process: up } = await startReady(place);
    const pidsOf = () => ['serve', 'bridge-host'].map((word) => pidOf(up.pid, word));
    const before = pidsOf();
    rmSync(join(place.stateDir, 'bridge-saw.json'));
    for (const pid of before) process.kill(pid ?? 0, 'SIGKILL');
    const health = () =>
      fetch(`${ready.url}/health`).then(
        ({ status }) => status,
        () => 'down',
      );
    await expect.poll(health).toBe(200);
    const seen = () => readJson(join(place.stateDir, 'bridge-saw.json')).url;
    await expect.poll(seen).toBe(ready.url);
    expect(treeOf(up.pid ?? 0)).toHaveLength(4);
    for (const pid of pidsOf()) expect(before).not.toContain(pid);
  });

  test('shows people what to do next, and keeps the token to itself', async () => {
    const { workspaceDir, stateDir } = newPlace();
    const args = ['up', '--port', '0', '--workspace', workspaceDir, '--state', stateDir];
    const { process: up, finished, firstLine } = startDrawbridge(args);
    await firstLine;
    up.kill('SIGINT');
    const { stdout, stderr } = await finished;
    expect(stdout).toMatch(/API +http:\/\/127\.0\.0\.1:\d+\n/);
    expect(stdout).toContain(
      `  bin/drawbridge.mjs chat --workspace ${workspaceDir} --state ${stateDir}\n`,
    );
    expect(stdout).toMatch(
      /built-in demo \(no LLM\): `.*drawbridge\.mjs config model` chooses a real model/,
    );
    expect(stdout).toContain('run without a sandbox, so each one asks you first. It is a test.');
    expect(stdout).not.toContain(readFileSync(join(stateDir, 'token'), 'utf8'));
    expect(stderr).toBe('');
  });
});

test.runIf(HAS_TERMINALS)('a Ctrl-C while the bridge asks a question ends everything', async () => {
  const place = newPlace();
  const terminal = openPseudoTerminal([process.execPath, DRAWBRIDGE, ...upArguments(place)], {
    env: { FAKE_BRIDGE: 'asking' },
  });
  await terminal.shows('Run it?');
  terminal.type('\x03');
  expect((await terminal.finished).code).toBeOneOf([0, 130]);
  expect(place.processes()).toEqual([]);
});

test('says that the bridge is back', async () => {
  const { process: up, finished } = await startReady(newPlace(), [], {
    FAKE_BRIDGE: 'coming back',
  });
  up.kill('SIGTERM');
  expect((await finished).stderr).toMatch(
    /^The bridge of \S+ lost its connection \(a test\) and is reconnecting\.\nThe bridge of \S+ is back\.\n$/,
  );
});

test('the commands in a folder of the workspace find the instance above them', async () => {
  const stateHome = { XDG_STATE_HOME: temporaryFolder() };
  const { workspaceDir } = newPlace();
  const inside = join(workspaceDir, 'a', 'b');
  mkdirSync(inside, { recursive: true });
  const args = ['up', '--json', '--port', '0', '--no-bridge', '--workspace', workspaceDir];
  const { firstLine } = startDrawbridge(args, { env: stateHome });
  const { token } = JSON.parse(await firstLine);
  const found = await callDrawbridge(['token'], { cwd: inside, env: stateHome });
  expect(found).toEqual({ code: 0, stdout: `${token}\n`, stderr: '' });
});

test('a command that finds no instance says how to start one from there', async () => {
  const env = { XDG_STATE_HOME: temporaryFolder() };
  const cwd = temporaryFolder();
  const launcher = join(import.meta.dirname, '..', '..', '..', 'bin', 'drawbridge.mjs');
  const away = await callDrawbridge(['chat', 'Hi'], { cwd, env });
  const [, shown = ''] = /`([^`]+) start`/.exec(away.stderr) ?? [];
  expect([away.code, resolve(cwd, shown)]).toEqual([1, launcher]);
  const bin = temporaryFolder();
  symlinkSync(launcher, join(bin, 'drawbridge'));
  const PATH = `${bin}${delimiter}${process.env['PATH']}`;
  const installed = await callDrawbridge(['chat', 'Hi'], { cwd, env: { ...env, PATH } });
  expect(installed.stderr).toContain('`drawbridge start`');
});

describe('a second up on the same state', () => {
  test('joins the first, and with another folder is refused', async () => {
    const place = newPlace();
    const { ready } = await startReady(place);
    const second = await startReady(place);
    expect(second.ready).toEqual(ready);
    const other = await runDrawbridge(upArguments({ ...place, workspaceDir: temporaryFolder() }));
    expect(other).toEqual({ code: 2, stdout: '', stderr: oneLine });
    expect(other.stderr).toContain('belongs to another server');
  });

  test('takes the place of the folder before with --move', async () => {
    const place = newPlace();
    const where = ['--state', place.stateDir, '--port', '0'];
    const started = ['start', '--workspace', place.workspaceDir, ...where];
    expect(await runDrawbridge(started)).toMatchObject({ code: 0 });
    expect(await runDrawbridge(['stop', '--state', place.stateDir])).toMatchObject({ code: 0 });
    const moved = { ...place, workspaceDir: temporaryFolder() };
    expect(await runDrawbridge(upArguments(moved))).toMatchObject({ code: 2, stderr: oneLine });
    await startReady(moved, ['--move']);
    const { workspaceDir, moves } = readJson(join(place.stateDir, 'bridge-saw.json'));
    expect({ workspaceDir, moves }).toEqual({ workspaceDir: moved.workspaceDir, moves: true });
  });
});

describe('what cannot be is one sentence and exit code 2', () => {
  const CASES: [string, string[]][] = [
    ['an unknown command', ['nonsense']],
    ['an unknown command of a group', ['worktrees', 'nonsense']],
    ['an unknown option', ['up', '--nonsense']],
    ['a port that is no number', ['up', '--port', 'http']],
    ['a port that is too high', ['up', '--port', '65536']],
    ['a workspace that is missing', ['up', '--workspace', '/no/such/folder']],
    ['the root as workspace', ['up', '--workspace', '/']],
    ['the home folder as workspace', ['up', '--workspace', homedir()]],
    ['connect without a URL', ['connect']],
    ['connect to what is no URL', ['connect', 'localhost:8787']],
    ['an unknown scope', ['token', '--scope', 'all']],
  ];
  test.each(CASES)('%s', async (_, args) => {
    const cwd = temporaryFolder();
    expect(await callDrawbridge(args, { cwd })).toEqual({ code: 2, stdout: '', stderr: oneLine });
  });

  test('a busy port', async () => {
    const server = createServer().listen(0, '127.0.0.1');
    onTestFinished(() => void server.close());
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const place = newPlace();
    const { code, stderr } = await runDrawbridge([...upArguments(place), '--port', `${port}`]);
    expect([code, stderr]).toEqual([2, oneLine]);
    expect(stderr).toContain(`Port ${port} is in use`);
    expect(place.processes()).toEqual([]);
  });

  test('a base URL that is none', async () => {
    const env = { OPENAI_BASE_URL: 'localhost:11434' };
    const { code, stderr } = await callDrawbridge(upArguments(newPlace()), { env });
    expect([code, stderr]).toEqual([2, oneLine]);
  });
});

/** Each line once, however often the bridge is tried. */
const FAILING =
  /^The bridge of (\S+) ended \(The disk is full\.\) and is being restarted\.\nThe bridge of \1 stopped: The disk is full\.\ndrawbridge: The bridge of \1 does not work: The disk is full\.\n$/;

describe('what goes wrong is exit code 1, and nothing stays behind', () => {
  test.each([
    ['a Worker that cannot be built', 'import nothing from nowhere', /could not be built/],
    [
      'a Worker that keeps dying',
      'export const nothing = 1;',
      /workerd: .*Conversation[\s\S]*The Worker keeps dying/,
    ],
  ])('%s', async (_, source, reason) => {
    const entry = join(temporaryFolder(), 'worker.ts');
    writeFileSync(entry, source);
    await expectFailure({ FAKE_WORKER: entry }, reason);
  });

  test.each([
    ['a bridge that is refused', 'refused', /The versions do not match/],
    ['a bridge that fails', 'failing', FAILING],
    [
      'a bridge that keeps dying',
      'crashing',
      /process died \(exit code 3\)[\s\S]*does not work: its process died/,
    ],
  ])('%s', async (_, behaviour, reason) => {
    await expectFailure({ FAKE_BRIDGE: behaviour }, reason);
  });

  async function expectFailure(env: NodeJS.ProcessEnv, reason: RegExp): Promise<void> {
    const place = newPlace();
    const { code, stdout, stderr } = await runDrawbridge(upArguments(place), { env });
    expect([code, stdout, stderr]).toEqual([1, '', expect.stringMatching(reason)]);
    expect(place.processes()).toEqual([]);
  }
});

test('an interrupt before the bridge is ready is exit code 130, also where the bridge does not end', async () => {
  const place = newPlace();
  const { process: up, finished } = startDrawbridge(upArguments(place), {
    env: { FAKE_BRIDGE: 'stuck' },
  });
  const seen = join(place.stateDir, 'bridge-saw.json');
  await expect.poll(() => existsSync(seen)).toBe(true);
  up.kill('SIGINT');
  expect((await finished).code).toBe(130);
  expect(place.processes()).toEqual([]);
});

/** The process below `up` whose command line has the word. */
function pidOf(up: number | undefined, word: string): number | undefined {
  return treeOf(up ?? 0).find(({ command }) => command.includes(word))?.pid;
}
