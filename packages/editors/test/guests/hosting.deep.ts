import { existsSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished, vi } from 'vitest';
import { temporaryFolder } from '../../../../test/local/temporary-folder.ts';
import { CompanionHost } from '../../guests/hosting.ts';
import { isBridgeRunning, readRunning, writeEnabled, writeRunning } from '../../guests/setting.ts';
import { connectTo, newPlace } from '../companion/companions.ts';

function newHost(stateDir = temporaryFolder()) {
  const log = vi.spyOn(console, 'error').mockImplementation(() => {});
  const host = new CompanionHost({
    stateDir,
    root: temporaryFolder(),
    discovery: newPlace(),
    onDiff: async () => ({ decision: 'rejected' }),
  });
  onTestFinished(() => host.end());
  const lines = () => log.mock.calls.map(([line]) => String(line));
  const running = () => vi.waitFor(async () => (await readRunning(stateDir)) ?? missing());
  return { stateDir, host, lines, running, file: join(stateDir, 'companion-running.json') };
}

function missing(): never {
  throw new Error('No companion runs.');
}

const answers = (port: number) =>
  fetch(`http://127.0.0.1:${port}/mcp`).then(
    ({ status }) => status,
    () => 'nothing',
  );

it('follows the setting while it runs, and says in a private file how to connect', async () => {
  const { stateDir, running, file, lines } = newHost();
  expect(isBridgeRunning(stateDir)).toBe(true);
  expect(existsSync(file)).toBe(false);
  writeEnabled(stateDir, true);
  const { port, variables, discoveryFiles, problems } = await running();
  expect(statSync(file).mode & 0o077).toBe(0);
  expect(await answers(port)).toBe(401);
  expect(variables).toMatchObject({ GEMINI_CLI_IDE_SERVER_PORT: String(port) });
  expect(Object.keys(discoveryFiles).every((path) => existsSync(path))).toBe(true);
  expect(problems).toEqual([]);
  writeEnabled(stateDir, false);
  await vi.waitFor(() => expect(existsSync(file)).toBe(false));
  await vi.waitFor(async () => expect(await answers(port)).toBe('nothing'));
  expect(Object.keys(discoveryFiles).some((path) => existsSync(path))).toBe(false);
  expect(lines()).toEqual([
    `The companion serves Gemini CLI and Qwen Code at port ${port}.`,
    'The companion has stopped.',
  ]);
});

it('ends with its bridge: no file, no port, no claim', async () => {
  const { stateDir, host, running, file } = newHost();
  writeEnabled(stateDir, true);
  const { port, discoveryFiles } = await running();
  await host.end();
  expect([file, ...Object.keys(discoveryFiles)].some((path) => existsSync(path))).toBe(false);
  expect(await answers(port)).toBe('nothing');
  expect(isBridgeRunning(stateDir)).toBe(false);
});

it('removes what a killed bridge has left behind, unless it was changed since', async () => {
  const stateDir = temporaryFolder();
  const [left, changed] = [join(stateDir, 'left.json'), join(stateDir, 'changed.json')];
  writeFileSync(left, 'old');
  writeFileSync(changed, 'new');
  writeRunning(stateDir, {
    port: 1,
    startedAt: new Date().toISOString(),
    variables: {},
    problems: [],
    discoveryFiles: { [left]: 'old', [changed]: 'old' },
  });
  const { file } = newHost(stateDir);
  await vi.waitFor(() => expect(existsSync(file)).toBe(false));
  expect(existsSync(left)).toBe(false);
  expect(readFileSync(changed, 'utf8')).toBe('new');
});

it('a setting that cannot be read is logged once, and turns nothing on', async () => {
  const stateDir = temporaryFolder();
  writeFileSync(join(stateDir, 'companion.json'), '{"enabled": "yes"}');
  const { lines, file, running } = newHost(stateDir);
  await vi.waitFor(() => expect(lines()).toHaveLength(1));
  expect(lines()[0]).toContain('companion.json is damaged: remove it.');
  expect(existsSync(file)).toBe(false);
  writeEnabled(stateDir, true);
  await running();
  expect(lines()).toHaveLength(2);
});

it('a state folder that is gone is logged, and ends nothing', async () => {
  const stateDir = temporaryFolder();
  const { lines, host, running } = newHost(stateDir);
  writeEnabled(stateDir, true);
  const { port } = await running();
  rmSync(stateDir, { recursive: true });
  writeFileSync(stateDir, '');
  await vi.waitFor(() => expect(lines().at(-1)).toContain('The companion: '));
  await host.end();
  expect(await answers(port)).toBe('nothing');
});

it('a context that is given before a companion runs reaches its first CLI; a wrong one is refused', async () => {
  const { stateDir, host, running } = newHost();
  expect(() => host.contextChanged({ openFiles: [{ path: 'a.ts', timestamp: 1 }] })).toThrow(
    'no absolute path',
  );
  host.contextChanged({ openFiles: [], isTrusted: true });
  writeEnabled(stateDir, true);
  const { port, variables } = await running();
  const { heard } = await connectTo(port, variables['GEMINI_CLI_IDE_AUTH_TOKEN'] ?? '');
  const params = { workspaceState: { openFiles: [], isTrusted: true } };
  await vi.waitFor(() => expect(heard).toEqual([{ method: 'ide/contextUpdate', params }]));
});
