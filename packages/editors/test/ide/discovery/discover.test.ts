import { mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { discover } from '../../../ide/discovery/discover.ts';
import { DISCOVERY_LIMITS } from '../../../ide/discovery/limits.ts';
import { closedPort, EXITED_PID, newMachine, openPort } from './announcing.ts';

const [PID, TOKEN] = [process.ppid, 'a-token'];
const IDE = { name: 'vscode', displayName: 'VS Code' };
const AUTH = { authToken: TOKEN };
const INFO = { ...AUTH, ideInfo: IDE };
const IN_IDE = { token: TOKEN, ide: IDE };
const IN_ZED = { token: TOKEN, ide: { name: 'zed', displayName: 'zed' } };

/** What companions of each age write beside port and folder. `P` in a name is the port, `N` the process. */
const AGES: [age: string, name: string, more: object, found: object][] = [
  ['Gemini 0.3', 'gemini-ide-server-N.json', {}, {}],
  ['Gemini 0.4, by its process', 'gemini-ide-server-N.json', { ppid: PID }, {}],
  ['Gemini 0.4, by its port', 'gemini-ide-server-P.json', { ppid: PID }, {}],
  ['Gemini 0.6 to 0.21', 'gemini-ide-server-P.json', { ppid: PID, ...AUTH }, { token: TOKEN }],
  ['Gemini since 0.22', 'gemini/ide/gemini-ide-server-N-P.json', AUTH, { token: TOKEN }],
  ['a name that Gemini CLI still reads first', 'gemini/ide/gemini-ide-server-N.json', INFO, IN_IDE],
  ['Qwen up to 0.5.0, by its process', 'qwen-code-ide-server-N.json', { ppid: PID }, {}],
  ['Qwen up to 0.5.0', 'qwen-code-ide-server-P.json', { ppid: PID, ...AUTH }, { token: TOKEN }],
  ["Qwen in Gemini's folder", 'gemini/ide/qwen-code-ide-server-N-P.json', {}, {}],
  ['Qwen as specified', 'qwen/ide/qwen-code-ide-server-N-P.json', { ...INFO, port: 'P' }, IN_IDE],
  ['Qwen since 0.5.1', '~/.qwen/ide/P.lock', { ppid: PID, ...AUTH, ideName: 'zed' }, IN_ZED],
];

test.each(AGES)('finds a companion: %s', async (_, name, more, found) => {
  const { announce, discover, workspace } = newMachine();
  const port = await openPort();
  // Some write the port as text.
  const content = JSON.stringify({ port, workspacePath: workspace, ...more });
  const source = announce(
    name.replace('P', `${port}`).replace('N', `${PID}`),
    JSON.parse(content.replace('"P"', `"${port}"`)),
  );
  const family = name.includes('gemini-ide') ? 'gemini' : 'qwen';
  expect(await discover()).toEqual({
    ranked: [{ family, pid: PID, ...found, source, port, roots: [workspace] }],
    passedOver: [],
  });
});

test('looks into the folder of QWEN_HOME and into every temporary folder', async () => {
  const { announce, root, tmp, workspace, discover } = newMachine();
  const [one, two] = [await openPort(), await openPort()];
  announce('../elsewhere/ide/1.lock', { port: one, workspacePath: workspace });
  announce('../other/gemini-ide-server-7.json', { port: two, workspacePath: workspace });
  expect((await discover()).ranked).toEqual([]);
  const found = await discover({
    environment: { QWEN_HOME: join(root, 'elsewhere') },
    temporaryFolders: [tmp, join(root, 'other'), join(root, 'missing')],
  });
  expect(found.ranked.map(({ port }) => port).sort()).toEqual([one, two].sort());
  expect(found.passedOver).toEqual([]);
});

test('finds a companion by variables alone', async () => {
  const { discover, workspace } = newMachine();
  const [gemini, qwen] = [await openPort(), await openPort()];
  const { ranked, passedOver } = await discover({
    environment: {
      GEMINI_CLI_IDE_SERVER_PORT: `${gemini}`,
      GEMINI_CLI_IDE_WORKSPACE_PATH: workspace,
      GEMINI_CLI_IDE_AUTH_TOKEN: TOKEN,
      QWEN_CODE_IDE_SERVER_PORT: `${qwen}`,
      QWEN_CODE_IDE_WORKSPACE_PATH: JSON.stringify([workspace]),
    },
  });
  expect(passedOver).toEqual([]);
  expect(ranked).toEqual([
    {
      family: 'gemini',
      source: 'GEMINI_CLI_IDE_SERVER_PORT',
      port: gemini,
      token: TOKEN,
      roots: [workspace],
    },
    { family: 'qwen', source: 'QWEN_CODE_IDE_SERVER_PORT', port: qwen, roots: [workspace] },
  ]);
});

test('takes the token of the file where the variables name its port', async () => {
  const { announce, discover, workspace } = newMachine();
  const port = await openPort();
  const lock = { port, ppid: PID, authToken: TOKEN };
  const source = announce(`~/.qwen/ide/${port}.lock`, lock);
  const environment = {
    QWEN_CODE_IDE_SERVER_PORT: `${port}`,
    QWEN_CODE_IDE_WORKSPACE_PATH: workspace,
  };
  expect(await discover({ environment })).toEqual({
    ranked: [{ family: 'qwen', source, port, token: TOKEN, pid: PID, roots: [workspace] }],
    passedOver: [],
  });
});

test('keeps a token that only the variables know as a second try', async () => {
  const { announce, discover, workspace } = newMachine();
  const port = await openPort();
  const content = { port, workspacePath: workspace, authToken: 'of-the-file' };
  announce(`gemini/ide/gemini-ide-server-${PID}-${port}.json`, content);
  const { ranked } = await discover({
    environment: {
      GEMINI_CLI_IDE_SERVER_PORT: `${port}`,
      GEMINI_CLI_IDE_AUTH_TOKEN: 'of-the-shell',
    },
  });
  expect(ranked.map(({ token, roots }) => ({ token, roots }))).toEqual([
    { token: 'of-the-file', roots: [workspace] },
    { token: 'of-the-shell', roots: [workspace] },
  ]);
});

test('counts a companion that announces itself in several ways once', async () => {
  const { announce, discover, workspace } = newMachine();
  const port = await openPort();
  const content = { port, workspacePath: workspace, ppid: PID, authToken: TOKEN };
  const best = announce(`gemini-ide-server-${PID}.json`, content);
  const other = announce(`gemini-ide-server-${port}.json`, content, { ageMs: 9_000 });
  const lock = announce(`~/.qwen/ide/${port}.lock`, content, { ageMs: 9_000 });
  const { ranked, passedOver } = await discover();
  expect(ranked.map(({ source }) => source)).toEqual([best]);
  const why = `it is the same as ${best}`;
  expect(passedOver).toHaveLength(2);
  expect(passedOver).toEqual(
    expect.arrayContaining([
      { source: other, why },
      { source: lock, why },
    ]),
  );
});

test('takes the window of this shell among two windows on one workspace, else the newer one', async () => {
  const { announce, discover, workspace } = newMachine();
  const [older, newer] = [await openPort(), await openPort()];
  for (const [port, ageMs] of [
    [older, 60_000],
    [newer, 0],
  ] as const) {
    const content = { port, workspacePath: workspace, authToken: `${port}` };
    announce(`gemini/ide/gemini-ide-server-${PID}-${port}.json`, content, { ageMs });
  }
  const portsOf = async (environment: Record<string, string>) =>
    (await discover({ environment })).ranked.map(({ port }) => port);
  expect(await portsOf({})).toEqual([newer, older]);
  expect(await portsOf({ GEMINI_CLI_IDE_SERVER_PORT: `${older}` })).toEqual([older, newer]);
});

test('leaves out other windows, and takes one all the same that the owner chose', async () => {
  const { announce, discover, root } = newMachine();
  const [port, empty, unknown] = [await openPort(), await openPort(), await openPort()];
  const other = join(root, 'other');
  const source = announce(`~/.qwen/ide/${port}.lock`, { port, workspacePath: other });
  const bare = announce(`~/.qwen/ide/${empty}.lock`, { port: empty, workspacePath: '' });
  announce(`~/.qwen/ide/${unknown}.lock`, { port: unknown });
  const found = await discover();
  expect(found.ranked).toMatchObject([{ port: unknown, roots: undefined }]);
  expect(found.passedOver).toEqual(
    expect.arrayContaining([
      { source, why: `its window has another folder open (port ${port}): ${other}` },
      { source: bare, why: `its window has no folder open (port ${empty})` },
    ]),
  );
  const chosen = await discover({ environment: { DRAWBRIDGE_IDE_PORT: `${port}` } });
  expect(chosen.ranked[0]).toMatchObject({ port, roots: [other] });
});

test('compares real paths on both sides', async () => {
  const { announce, discover, root, workspace } = newMachine();
  const port = await openPort();
  const link = join(root, 'link');
  symlinkSync(workspace, link);
  mkdirSync(join(workspace, 'inside'));
  announce(`~/.qwen/ide/${port}.lock`, { port, workspacePath: link });
  const { ranked } = await discover({ workspace: join(link, 'inside') });
  expect(ranked).toMatchObject([{ port, roots: [workspace] }]);
});

test('says that nothing listens where a window left its file behind', async () => {
  const { announce, discover, workspace } = newMachine();
  const port = await closedPort();
  const content = { port, workspacePath: workspace };
  const source = announce(`gemini/ide/gemini-ide-server-${EXITED_PID}-${port}.json`, content);
  expect(await discover()).toEqual({
    ranked: [],
    passedOver: [
      { source, why: `nothing listens on port ${port}, and its process ${EXITED_PID} has exited` },
    ],
  });
});

test('finds the one good companion behind a hundred stale ones', async () => {
  const { announce, discover, workspace } = newMachine();
  const dead = await closedPort();
  for (let index = 0; index < 100; index++) {
    // Their editor still runs: only the windows were closed.
    const name = `gemini/ide/gemini-ide-server-${PID}-${20_000 + index}.json`;
    announce(name, { port: dead, workspacePath: workspace, authToken: `${index}` });
  }
  const port = await openPort();
  const content = { port, workspacePath: workspace, authToken: TOKEN };
  announce(`gemini/ide/gemini-ide-server-${EXITED_PID}-${port}.json`, content, { ageMs: 60_000 });
  const { ranked, passedOver } = await discover();
  expect(ranked).toMatchObject([{ port, token: TOKEN }]);
  expect(passedOver).toHaveLength(100);
});

test('reads the newest of very many files, and first of all those of its own shell', async () => {
  const { announce, discover, workspace } = newMachine();
  const [dead, port] = [await closedPort(), await openPort()];
  for (let index = 0; index < DISCOVERY_LIMITS.maxFiles; index++) {
    announce(`gemini-ide-server-${index + 2}.json`, { port: dead, workspacePath: workspace });
  }
  const content = { port, workspacePath: workspace };
  const source = announce(`~/.qwen/ide/${port}.lock`, content, { ageMs: 60_000 });
  const without = await discover();
  expect(without.ranked).toEqual([]);
  expect(without.passedOver).toContainEqual({
    source,
    why: expect.stringContaining('older than 256 others'),
  });
  const environment = { QWEN_CODE_IDE_SERVER_PORT: `${port}` };
  expect((await discover({ environment })).ranked).toMatchObject([{ source }]);
});

test.each([
  ['GEMINI_CLI_IDE_SERVER_PORT', '70000', 'is no port'],
  ['QWEN_CODE_IDE_SERVER_PORT', '80; rm', 'is no port'],
  ['DRAWBRIDGE_IDE_PORT', 'code', 'is no port'],
  ['DRAWBRIDGE_IDE_PORT', '4711', 'no companion announces port 4711'],
  ['GEMINI_CLI_IDE_SERVER_STDIO_COMMAND', 'evil', 'starts no program'],
  ['QWEN_CODE_IDE_SERVER_STDIO_COMMAND', 'evil', 'starts no program'],
])('passes over the variable %s=%s', async (source, value, why) => {
  const environment = { [source]: value };
  const { ranked, passedOver } = await newMachine({ environment }).discover();
  expect(ranked).toEqual([]);
  expect(passedOver).toEqual([{ source, why: expect.stringContaining(why) }]);
});

test("does not take Drawbridge's own companion", async () => {
  const { announce, discover, workspace } = newMachine();
  const port = await openPort();
  const ideInfo = { name: 'drawbridge', displayName: 'Drawbridge' };
  const source = announce(`~/.qwen/ide/${port}.lock`, { port, workspacePath: workspace, ideInfo });
  expect(await discover()).toEqual({
    ranked: [],
    passedOver: [{ source, why: "it is Drawbridge's own companion" }],
  });
});

test('bounds what it lists of a flood of files', async () => {
  const { announce, discover } = newMachine();
  for (let index = 0; index < DISCOVERY_LIMITS.maxPassedOver + 20; index++)
    announce(`gemini-ide-server-${index + 2}.json`, '');
  const { passedOver } = await discover();
  expect(passedOver).toHaveLength(DISCOVERY_LIMITS.maxPassedOver + 1);
  expect(passedOver.at(-1)).toEqual({ source: '20 more sources', why: 'too many to list each' });
});

test('ends with its signal', async () => {
  const { place } = newMachine();
  const reason = new Error('enough');
  await expect(discover(place, AbortSignal.abort(reason))).rejects.toBe(reason);
  const controller = new AbortController();
  const found = discover(place, controller.signal);
  controller.abort(reason);
  await expect(found).rejects.toBe(reason);
});
