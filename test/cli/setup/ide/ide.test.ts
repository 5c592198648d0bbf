import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { expect, test } from 'vitest';
import { Distrust } from '../../../../bridge/admission/distrust.ts';
import { takeLock } from '../../../../machine/lock.ts';
import { isConfirmed } from '../../../../packages/editors/ide/link/confirmed.ts';
import { closedPort } from '../../../../packages/editors/test/ide/discovery/announcing.ts';
import { startCompanion } from '../../../../packages/editors/test/ide/probed-companion.ts';
import { temporaryFolder } from '../../../local/temporary-folder.ts';
import { DRAWBRIDGE } from '../../bundle.ts';
import { callDrawbridge } from '../../called.ts';
import { newPlace, runDrawbridge } from '../../drawbridge.ts';
import { HAS_TERMINALS, openPseudoTerminal } from '../../pseudo-terminal.ts';

/** A person's home with its own temporary folder, and no editor. */
function newOwner() {
  const { workspaceDir, stateDir } = newPlace();
  const [home, tmp] = [temporaryFolder(), temporaryFolder()];
  const env = {
    HOME: home,
    TMPDIR: tmp,
    TERM_PROGRAM: '',
    VSCODE_GIT_ASKPASS_NODE: '',
    QWEN_HOME: join(home, 'qwen'),
    REMOTE_CONTAINERS: '1',
  };
  const location = ['--workspace', workspaceDir, '--state', stateDir];
  return {
    workspaceDir,
    stateDir,
    home,
    tmp,
    env,
    announce(port: number, more: object = {}): string {
      const file = join(home, 'qwen', 'ide', `${port}.lock`);
      mkdirSync(join(home, 'qwen', 'ide'), { recursive: true });
      const content = { port, workspacePath: workspaceDir, ppid: process.pid, ...more };
      writeFileSync(file, JSON.stringify(content), { mode: 0o600 });
      return file;
    },
    look: (more: NodeJS.ProcessEnv = {}) =>
      callDrawbridge(['ide', ...location], { env: { ...env, ...more } }),
    install: (args: string[], more: NodeJS.ProcessEnv = {}) =>
      runDrawbridge(['ide', 'install', ...args], { env: { ...env, ...more } }),
    /** An installation that does not begin. */
    refused: (args: string[], more: NodeJS.ProcessEnv = {}) =>
      callDrawbridge(['ide', 'install', ...args], { env: { ...env, ...more } }),
  };
}

/** A command line of an editor: notes its arguments, and ends with this code. */
function putEditor(name: string, code = 0) {
  const folder = temporaryFolder();
  const noted = join(folder, 'arguments');
  const script = `#!/bin/sh\necho "$@" > ${noted}\necho "from ${name}"\nexit ${code}\n`;
  writeFileSync(join(folder, name), script, { mode: 0o755 });
  const PATH = [folder, process.env['PATH']].join(delimiter);
  return { program: join(folder, name), noted: () => readFileSync(noted, 'utf8'), PATH };
}

test('ide names the companion that would be taken, and why each other is not', async () => {
  const { announce, look } = newOwner();
  const { port } = await startCompanion({ token: 'right' });
  const { port: strict } = await startCompanion({ token: 'other' });
  const dead = await closedPort();
  const ideInfo = { name: 'vscode', displayName: 'VS Code\u001b[2J' };
  const files = [
    announce(port, { authToken: 'right', ideInfo }),
    announce(strict, { authToken: 'wrong' }),
    announce(dead),
  ];
  const { code, stdout, stderr } = await look({ QWEN_CODE_IDE_SERVER_PORT: `${port}` });
  expect(code).toBe(0);
  expect(stderr).toMatch(/^To accept approvals from it: .*ide confirm --workspace .*\n$/);
  expect(stdout.split('\n')).toEqual(
    expect.arrayContaining([
      `taken    VS Code␛[2J, port ${port}, process ${process.pid}: an-editor 1.2.3: it can show edits (${files[0]})`,
      `failed   the editor with the companion of Qwen Code, port ${strict}, process ${process.pid}: it refuses the token (401) (${files[1]})`,
      `skipped  ${files[2]}: nothing listens on port ${dead}`,
    ]),
  );
  expect(stdout).not.toContain('right)');
});

test('ide says what to do where there is no editor', async () => {
  const { announce, look, workspaceDir } = newOwner();
  const { port } = await startCompanion();
  const file = announce(port, { workspacePath: '/elsewhere' });
  const { code, stdout, stderr } = await look({ TERM_PROGRAM: 'tmux' });
  expect(code).toBe(1);
  expect(stdout).toContain(
    `skipped  ${file}: its window has another folder open (port ${port}): /elsewhere\n`,
  );
  expect(stderr).toContain(`Open ${workspaceDir} in the editor`);
  expect(stderr).toContain('ide install');
  expect(stderr).toContain('TERM_PROGRAM is tmux');
  const chosen = await look({ DRAWBRIDGE_IDE_PORT: `${port}` });
  expect(chosen).toMatchObject({ code: 0, stdout: expect.stringContaining('taken ') });
});

test('ide opens no session beside a running bridge', async () => {
  const { announce, look, stateDir } = newOwner();
  const { port, asked } = await startCompanion();
  announce(port);
  mkdirSync(stateDir, { recursive: true });
  const lock = takeLock(join(stateDir, 'journal.jsonl.lock'));
  if (!lock.isTaken) throw new Error('The lock is taken.');
  using _ = lock;
  expect(await look()).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/^taken .*: it answers \(/m),
    stderr: expect.stringContaining('The bridge is running'),
  });
  expect(asked).toEqual(['POST tools/list']);
});

test('ide install runs the program of the editor whose terminal this is', async () => {
  const { install } = newOwner();
  const { PATH, program, noted } = putEditor('code');
  const done = await install(['--yes'], { PATH, TERM_PROGRAM: 'vscode' });
  expect(done).toMatchObject({ code: 0, stdout: 'from code\n' });
  const id = 'google.gemini-cli-vscode-ide-companion';
  expect(done.stderr).toContain(`VS Code: ${program} --install-extension ${id} --force\n`);
  expect(noted()).toBe(`--install-extension ${id} --force\n`);
});

test.each([
  ['code-insiders', { TERM_PROGRAM: 'vscode', TERM_PROGRAM_VERSION: '1.99.0-insider' }],
  ['codium', { TERM_PROGRAM: 'vscode', VSCODE_GIT_ASKPASS_NODE: '/usr/share/codium/codium' }],
  ['cursor', { TERM_PROGRAM: 'vscode', CURSOR_TRACE_ID: '1' }],
  ['windsurf', { TERM_PROGRAM: 'vscode', VSCODE_GIT_ASKPASS_NODE: '/opt/Windsurf/windsurf' }],
  ['agy', { TERM_PROGRAM: 'vscode', ANTIGRAVITY_CLI_ALIAS: 'agy' }],
  ['trae', { TERM_PROGRAM: 'vscode', TERM_PRODUCT: 'Trae' }],
])('ide install knows %s by its terminal', async (name, env) => {
  const { refused } = newOwner();
  const { PATH, program } = putEditor(name);
  const { stderr } = await refused(['--companion', 'qwen'], { PATH, ...env });
  expect(stderr).toContain(`${program} --install-extension qwenlm.qwen-code-vscode-ide-companion`);
});

test('ide install asks first, and needs a terminal for that', async () => {
  const { refused } = newOwner();
  const { PATH, noted } = putEditor('cursor');
  expect(await refused(['cursor'], { PATH })).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('--yes runs it without asking'),
  });
  expect(noted).toThrow();
});

test.runIf(HAS_TERMINALS)('ide install goes by the answer at the terminal', async () => {
  const { env } = newOwner();
  const { PATH, noted } = putEditor('cursor');
  const run = () =>
    openPseudoTerminal([process.execPath, DRAWBRIDGE, 'ide', 'install', 'cursor'], {
      env: { ...env, PATH },
    });
  for (const [answer, code] of [
    ['n', 1],
    ['y', 0],
  ] as const) {
    const terminal = run();
    await terminal.shows('Run it? y or n: ');
    expect(noted).toThrow();
    terminal.type(`${answer}\n`);
    expect(await terminal.finished).toMatchObject({ code });
  }
  expect(noted()).toContain('google.gemini-cli');
});

test.each<[string, string[], string]>([
  ['an unknown editor', ['emacs\u001b[2J'], 'No editor is known as'],
  ['a terminal of no editor', [], 'name one of antigravity'],
  ['an editor without such extensions', ['zed'], 'cannot install into Zed: look for'],
  ['an editor that is not here', ['positron'], 'The command positron of Positron was not found'],
  ['another companion', ['vscode', '--companion', 'claude'], 'Allowed choices are gemini, qwen'],
])('ide install refuses %s in one line', async (_, args, said) => {
  const { code, stdout, stderr } = await newOwner().refused(args);
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
  expect(stderr).toContain(said);
  expect(stderr.trimEnd()).not.toContain('\n');
  expect(stderr).not.toContain('\u001b');
});

test('ide install says that the editor has failed', async () => {
  const { install } = newOwner();
  const { PATH } = putEditor('codium', 3);
  expect(await install(['vscodium', '-y'], { PATH })).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('The installation failed (3): install the extension'),
  });
});

test.runIf(HAS_TERMINALS)('ide confirm lets the answers of one editor count', async () => {
  const { announce, env, look, workspaceDir, stateDir } = newOwner();
  const [{ port, asked }, { port: other }] = [
    await startCompanion({ token: 'right' }),
    await startCompanion({ token: 'other' }),
  ];
  announce(port, { authToken: 'right', ideInfo: { name: 'zed', displayName: 'Zed' } });
  announce(other, { authToken: 'other' });
  mkdirSync(stateDir, { recursive: true });
  const words = ['ide', 'confirm', '--workspace', workspaceDir, '--state', stateDir];
  const run = () =>
    openPseudoTerminal([process.execPath, DRAWBRIDGE, ...words, '--port', `${port}`], { env });
  const editors = join(stateDir, 'editors.json');
  for (const [answer, code] of [
    ['n', 1],
    ['y', 0],
  ] as const) {
    const terminal = run();
    await terminal.shows(`Zed, process ${process.pid}, port ${port}, announced by`);
    await terminal.shows('an answer there counts as yours');
    await terminal.shows('Is this your editor? y or n: ');
    expect(existsSync(editors)).toBe(false);
    terminal.type(`${answer}\n`);
    expect(await terminal.finished).toMatchObject({ code });
  }
  expect(await isConfirmed(stateDir, { port, token: 'right' })).toBe(true);
  expect(await isConfirmed(stateDir, { port: other, token: 'other' })).toBe(false);
  await run().shows('is confirmed already');
  // No session was opened, because a running bridge could lose its own.
  expect(new Set(asked)).toEqual(new Set(['POST tools/list']));
  const status = await look({ QWEN_CODE_IDE_SERVER_PORT: `${other}` });
  expect(status).toMatchObject({ stdout: expect.stringMatching(/^taken +Zed/), stderr: '' });
});

test('ide confirm takes no yes from a program, no editor without a token, and none that is not there', async () => {
  const { announce, env, workspaceDir, stateDir } = newOwner();
  const words = ['ide', 'confirm', '--workspace', workspaceDir, '--state', stateDir];
  const run = (...args: string[]) => callDrawbridge([...words, ...args], { env });
  mkdirSync(stateDir, { recursive: true });
  expect(await run()).toMatchObject({ code: 2, stderr: expect.stringContaining('No editor') });
  const { port } = await startCompanion({ token: 'right' });
  announce(port, { authToken: 'right' });
  const yes = await runDrawbridge(words, { env, input: 'y\n' });
  expect(yes).toMatchObject({ code: 2, stderr: expect.stringContaining('no terminal') });
  expect(await run('--port', '1')).toMatchObject({ code: 2 });
  expect(await run('--port', 'x')).toMatchObject({ code: 2 });
  const { port: open } = await startCompanion();
  announce(open);
  const refused = await run('--port', `${open}`);
  expect(refused).toMatchObject({ code: 2, stderr: expect.stringContaining('has no token') });
  expect(existsSync(join(stateDir, 'editors.json'))).toBe(false);
});

test.runIf(HAS_TERMINALS)('ide trust takes back what an editor said, after a yes', async () => {
  const { env, workspaceDir, stateDir } = newOwner();
  mkdirSync(stateDir, { recursive: true });
  const words = ['ide', 'trust', '--workspace', workspaceDir, '--state', stateDir];
  const run = () => openPseudoTerminal([process.execPath, DRAWBRIDGE, ...words], { env });
  await run().shows('No editor reports this folder as untrusted.');
  const distrust = new Distrust(stateDir);
  distrust.keep();
  const unasked = await runDrawbridge(words, { env, input: 'y\n' });
  expect(unasked).toMatchObject({ code: 2, stderr: expect.stringContaining('no terminal') });
  for (const [answer, code] of [
    ['n', 1],
    ['y', 0],
  ] as const) {
    expect(distrust.isKept).toBe(true);
    const terminal = run();
    await terminal.shows('Do you trust the files of this folder? y or n: ');
    terminal.type(`${answer}\n`);
    expect(await terminal.finished).toMatchObject({ code });
  }
  expect(distrust.isKept).toBe(false);
});
