import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, describe, expect, onTestFinished, test } from 'vitest';
import { openPseudoTerminal, type PseudoTerminal } from '../cli/pseudo-terminal.ts';
import { temporaryFolder } from '../local/temporary-folder.ts';
import { pack, ROOT } from '../package/pack.ts';
import { installPackages } from './foreign-packages.ts';

/** The oldest Node that the package runs on, and the newest of each later line. */
const OLDEST = '20.19.0';
const NODES = [OLDEST, '22', '24'];
/** Of an empty prefix after the install; workerd alone takes 150. */
const MAX_INSTALLED_MB = 230;

/** What each Node took, in seconds, as it is printed at the end. */
const rows: Record<string, string | number>[] = [];
afterAll(() => console.table(rows));

describe.each(NODES)('on Node %s', (version) => {
  test('the package installs from an empty prefix to the first answer', async () => {
    const { node, env, tarball } = await prepare(version);
    const clock = newClock();
    const { drawbridge, prefix } = await install(tarball, env);
    const installed = clock();
    const workspace = newWorkspace();
    const terminal = open([drawbridge], { cwd: workspace, env });
    const asked = await choosesDemo(terminal, clock);
    const prompted = clock();
    terminal.type('create notes/hello.md with Hello\r');
    await terminal.shows('Created notes/hello.md');
    const answered = clock();
    expect(existsSync(join(workspace, 'notes', 'hello.md'))).toBe(true);
    await leave(terminal);
    const again = newClock();
    const warm = open([drawbridge], { cwd: workspace, env });
    await warm.shows(PROMPT);
    const joined = again();
    expect(warm.screen()).not.toContain('Which model');
    await leave(warm);
    expect(await run(drawbridge, ['status'], { cwd: workspace, env })).toContain(workspace);
    await run(drawbridge, ['stop'], { cwd: workspace, env });
    const megabytes = Number.parseInt(await run('du', ['-sm', prefix]), 10);
    expect(megabytes).toBeLessThanOrEqual(MAX_INSTALLED_MB);
    const release = (await run(node, ['--version'])).trim();
    rows.push({ node: release, megabytes, installed, asked, prompted, answered, joined });
  });

  test('the package runs by npx in a project that has it, and by its file elsewhere', async () => {
    const { env, tarball } = await prepare(version);
    const project = newWorkspace();
    await run('npm', ['init', '--yes'], { cwd: project, env });
    await run('npm', ['install', tarball], { cwd: project, env });
    const terminal = open(['npx', 'drawbridge'], { cwd: project, env });
    await choosesDemo(terminal, newClock());
    expect(terminal.screen()).toContain('`npx drawbridge config model` asks again');
    terminal.type('hello\r');
    await terminal.shows('I understand plain requests');
    await leave(terminal);
    expect(await run('npx', ['drawbridge', 'status'], { cwd: project, env })).toContain(project);
    await run('npx', ['drawbridge', 'stop'], { cwd: project, env });
    const words = ['--yes', '--package', tarball, 'drawbridge', '--version'];
    const shown = await run('npx', words, { cwd: temporaryFolder(), env });
    expect(shown).toMatch(/^\d+\.\d+\.\d+\n$/);
  });
});

test('the package runs where npm has run no install script', async () => {
  const { env, tarball } = await prepare(OLDEST);
  const { drawbridge } = await install(tarball, env, '--ignore-scripts');
  const cwd = newWorkspace();
  expect(await run(drawbridge, ['start'], { cwd, env })).toBe('');
  expect(await run(drawbridge, ['chat', 'list the files here'], { cwd, env })).not.toBe('');
  await run(drawbridge, ['stop'], { cwd, env });
});

/** Whatever the bridge and the daemon do: a part of Node that is newer than the oldest would fail here. */
test('everything flows with the package on the oldest Node', { timeout: 20 * 60_000 }, async () => {
  const { node, env, tarball } = await prepare(OLDEST);
  const { prefix } = await install(tarball, env);
  const launcher = join(prefix, 'lib', 'node_modules', 'drawbridge-agent', 'bin', 'drawbridge.mjs');
  const vitest = spawn(process.execPath, [VITEST, 'run', '--project', 'flow'], {
    cwd: ROOT,
    env: { ...process.env, DRAWBRIDGE_TEST_PROGRAM: `${node}\n${launcher}` },
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  onTestFinished(() => void vitest.kill());
  const [code] = await once(vitest, 'exit');
  expect(code).toBe(0);
});

const VITEST = join(ROOT, 'node_modules', '.bin', 'vitest');

/** This Node, the package's file, and a shell's environment: a new home, no model, but npm's cache. */
async function prepare(version: string) {
  const name = `node-${process.platform}-${process.arch}`;
  const packages = await installPackages([`${name}@${version}`]);
  onTestFinished(async () => await packages[Symbol.asyncDispose]());
  const node = join(packages.folder, 'node_modules', name, 'bin', 'node');
  const { tarball } = await pack(ROOT, packages.folder);
  const { PATH = '' } = process.env;
  const path = PATH.split(delimiter).filter((dir) => !dir.includes('node_modules'));
  const others = Object.entries(process.env).filter(
    ([variable]) => !/^(npm_|OPENAI_|ANTHROPIC_|MODELS$|XDG_|NODE_ENV$|VITEST)/.test(variable),
  );
  const env = {
    ...Object.fromEntries(others),
    HOME: temporaryFolder(),
    DRAWBRIDGE_PORT: '0',
    PATH: [dirname(node), ...path].join(delimiter),
    npm_config_cache: (await run('npm', ['config', 'get', 'cache'])).trim(),
  };
  return { node, tarball, env };
}

async function install(tarball: string, env: NodeJS.ProcessEnv, ...flags: string[]) {
  const prefix = temporaryFolder();
  const words = ['install', '--global', '--prefix', prefix, ...flags, tarball];
  await run('npm', words, { cwd: prefix, env });
  return { prefix, drawbridge: join(prefix, 'bin', 'drawbridge') };
}

const PROMPT = '> ';

/** Without what the tests of the CLI set for their own programs. */
function open(command: readonly string[], { cwd, env }: Required<Place>): PseudoTerminal {
  const unset = { NODE_COMPILE_CACHE: undefined, XDG_CONFIG_HOME: undefined };
  return openPseudoTerminal(command, { cwd, env: { ...env, ...unset } });
}

/** Answers the question for a model; resolves at the prompt, to the time of the question. */
async function choosesDemo(terminal: PseudoTerminal, clock: () => number): Promise<number> {
  await terminal.shows('Number (Enter for 1): ');
  const asked = clock();
  const demo = /(\d+) {2}the built-in demo/.exec(terminal.screen())?.[1] ?? '';
  terminal.type(`${demo}\r`);
  await terminal.shows(PROMPT);
  return asked;
}

async function leave(terminal: PseudoTerminal): Promise<void> {
  await terminal.shows(PROMPT);
  terminal.type('\x04');
  expect((await terminal.finished).code).toBe(0);
}

/** Seconds since the last call, to a tenth. */
function newClock(): () => number {
  let last = performance.now();
  return () => {
    const now = performance.now();
    const seconds = Number(((now - last) / 1000).toFixed(1));
    last = now;
    return seconds;
  };
}

function newWorkspace(): string {
  const folder = join(temporaryFolder(), 'workspace');
  mkdirSync(folder);
  return folder;
}

interface Place {
  readonly cwd?: string;
  readonly env?: NodeJS.ProcessEnv;
}

/** The program's output. */
async function run(program: string, args: readonly string[], place: Place = {}): Promise<string> {
  const { stdout } = await promisify(execFile)(program, args, { ...place, timeout: MOST_MS });
  return stdout;
}

/** npm tries for a quarter of an hour when it does not reach the registry. */
const MOST_MS = 3 * 60_000;
