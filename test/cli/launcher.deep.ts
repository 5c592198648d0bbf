import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { isAlive, treeOf } from '../local/processes.ts';
import { temporaryFolder } from '../local/temporary-folder.ts';
import { runDrawbridge, startDrawbridge } from './drawbridge.ts';

const ROOT = join(import.meta.dirname, '..', '..');

/** A program that prints on which Node it runs and whether it sees a channel, and waits for the signal it is asked for. */
const PROGRAM = `
export async function main([wait]) {
  const keepAlive = wait && setInterval(() => {}, 1_000_000);
  if (wait) process.once(wait, () => { clearInterval(keepAlive); process.exitCode = 42; });
  console.log(process.versions.node.split('.')[0], typeof process.send, process.env.DRAWBRIDGE_HANDED_OVER);
  if (!wait) process.exitCode = 7;
}`;

/** A program that prints how often it was interrupted, a moment after the first time. */
const COUNTING_PROGRAM = `
export async function main() {
  let interrupts = 0;
  const print = () => { console.log("interrupts: " + interrupts); process.exit(); };
  process.on('SIGINT', () => { if (interrupts++ === 0) setTimeout(print, 300); });
  setInterval(() => {}, 1_000_000);
  console.log('listening');
}`;

const OLDER_NODE = findOlderNode();
const NODES = [process.execPath, ...(OLDER_NODE ? [OLDER_NODE] : [])];

describe.each(NODES)('the launcher on %s', (node) => {
  test('runs the program on Node 24 and ends with its exit code', async () => {
    const { code, stdout, stderr } = await runDrawbridge([], { program: [node, newLauncher()] });
    expect([code, stdout, stderr]).toEqual([7, '24 undefined undefined\n', '']);
  });

  test.each(['SIGINT', 'SIGTERM', 'SIGHUP'] as const)('passes %s on', async (signal) => {
    const program: [string, string] = [node, newLauncher()];
    const { process: launcher, firstLine, finished } = startDrawbridge([signal], { program });
    await firstLine;
    launcher.kill(signal);
    expect((await finished).code).toBe(42);
  });

  test('leaves nothing behind when it is killed', async () => {
    const program: [string, string] = [node, newLauncher()];
    const { process: launcher, firstLine } = startDrawbridge(['SIGTERM'], { program });
    await firstLine;
    const tree = treeOf(launcher.pid ?? 0);
    launcher.kill('SIGKILL');
    const alive = () => tree.filter(({ pid }) => isAlive(pid));
    await expect.poll(alive).toEqual([]);
  });
});

// `script` of Linux gives it a terminal.
test.runIf(OLDER_NODE && process.platform === 'linux').each(['', 'echo piped | '])(
  'a Ctrl-C at the terminal reaches the program once: %j',
  async (before) => {
    const launcher = newLauncher(COUNTING_PROGRAM);
    // At a terminal the first start says that it prepares the program.
    const prepared: [string, string] = [OLDER_NODE ?? '', launcher];
    const first = startDrawbridge([], { program: prepared });
    await first.firstLine;
    first.process.kill('SIGTERM');
    await first.finished;
    // The shell is interrupted as well, and is to wait.
    const line = `trap : INT; ${before}'${OLDER_NODE}' '${launcher}'`;
    const program: [string, ...string[]] = ['script', '-qec', line, '/dev/null'];
    const {
      process: terminal,
      firstLine,
      finished,
    } = startDrawbridge([], { program, input: null });
    await firstLine;
    terminal.stdin?.write('\x03');
    expect((await finished).stdout).toContain('interrupts: 1');
  },
);

test('the launcher ends as asked when npm, which started it, is asked to end', async () => {
  const launcher = newLauncher();
  const dir = join(launcher, '..', '..');
  const scripts = { start: `"${process.execPath}" bin/drawbridge.mjs SIGTERM` };
  writeFileSync(join(dir, 'package.json'), JSON.stringify({ type: 'module', scripts }));
  const npm: [string, ...string[]] = ['npm', '--silent', '--prefix', dir, 'start'];
  const { process: started, firstLine, finished } = startDrawbridge([], { program: npm });
  await firstLine;
  const tree = treeOf(started.pid ?? 0);
  expect(tree.length).toBeGreaterThan(1);
  started.kill('SIGTERM');
  await finished;
  const alive = () => tree.filter(({ pid }) => isAlive(pid));
  await expect.poll(alive).toEqual([]);
});

test('the launcher starts the real program', async () => {
  const program: [string, string] = [NODES.at(-1) ?? '', join(ROOT, 'bin', 'drawbridge.mjs')];
  const { code, stdout } = await runDrawbridge(['--version'], { program });
  expect([code, stdout]).toEqual([0, expect.stringMatching(/^\d+\.\d+\.\d+\n$/)]);
});

describe.each(NODES)('the launcher of the package on %s', (node) => {
  test('runs the built program on that Node and ends with its exit code', async () => {
    const { code, stdout, stderr } = await runDrawbridge([], { program: [node, newPackage()] });
    const [major] = spawnSync(node, ['--version'], { encoding: 'utf8' }).stdout.slice(1).split('.');
    expect([code, stdout, stderr]).toEqual([7, `${major} undefined undefined\n`, '']);
  });
});

test.each(['18.20.8', '20.18.3'])(
  'the launcher of the package refuses Node %s',
  async (version) => {
    const pretend = `Object.defineProperty(process, 'versions', { value: { node: '${version}' } });
                   Object.defineProperty(process, 'version', { value: 'v${version}' });`;
    const preload = `data:text/javascript,${encodeURIComponent(pretend)}`;
    const program: [string, ...string[]] = [process.execPath, '--import', preload, newPackage()];
    const { code, stdout, stderr } = await runDrawbridge([], { program });
    expect([code, stdout, stderr]).toEqual([
      2,
      '',
      `drawbridge: Node 20.19 or newer is needed, and this is v${version}.\n`,
    ]);
  },
);

/** The real launcher with a built program, as the package has them. */
function newPackage(): string {
  const root = temporaryFolder();
  mkdirSync(join(root, 'dist', 'cli'), { recursive: true });
  cpSync(join(ROOT, 'bin'), join(root, 'bin'), { recursive: true });
  writeFileSync(join(root, 'package.json'), '{"type": "module"}');
  writeFileSync(join(root, 'dist', 'cli', 'main.js'), PROGRAM);
  return join(root, 'bin', 'drawbridge.mjs');
}

/** The real launcher in a project of its own. */
function newLauncher(program = PROGRAM): string {
  const root = temporaryFolder();
  mkdirSync(join(root, 'cli'));
  cpSync(join(ROOT, 'bin'), join(root, 'bin'), { recursive: true });
  writeFileSync(join(root, 'package.json'), '{"type": "module"}');
  writeFileSync(join(root, 'cli', 'main.ts'), program);
  symlinkSync(join(ROOT, 'node_modules'), join(root, 'node_modules'));
  return join(root, 'bin', 'drawbridge.mjs');
}

/** The machine's own Node if it is older than the one we bring; not every machine has one. */
function findOlderNode(): string | undefined {
  const { PATH = '' } = process.env;
  const path = PATH.split(':').filter((dir) => !dir.includes('node_modules'));
  const { stdout, status } = spawnSync(
    'node',
    ['-p', '[process.execPath, process.versions.node].join()'],
    { env: { PATH: path.join(':') }, encoding: 'utf8' },
  );
  const [execPath, version = ''] = stdout?.trim().split(',') ?? [];
  return status === 0 && Number.parseInt(version, 10) < 24 ? execPath : undefined;
}
