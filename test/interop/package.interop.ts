import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { describe, expect, onTestFinished, test } from 'vitest';
import { temporaryFolder } from '../local/temporary-folder.ts';
import { pack, ROOT } from '../package/pack.ts';
import { installPackages } from './foreign-packages.ts';

/** The oldest Node that the package runs on, and the newest of each later line. */
const OLDEST = '20.19.0';
const NODES = [OLDEST, '22', '24'];
/** Of an empty prefix after the install; workerd alone takes 150. */
const MAX_INSTALLED_MB = 230;

describe.each(NODES)('on Node %s', (version) => {
  test('the package installs from an empty prefix to the first answer', async () => {
    const { node, env, tarball } = await prepare(version);
    const installing = performance.now();
    const { drawbridge, prefix } = await install(tarball, env);
    const starting = performance.now();
    const workspace = newWorkspace();
    const state = ['--state', join(temporaryFolder(), 'state')];
    const up = spawn(drawbridge, ['up', '--json', '--port', '0', ...state], {
      ...{ cwd: workspace, env },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    onTestFinished(() => void up.kill('SIGKILL'));
    await once(createInterface({ input: up.stdout }), 'line');
    const asking = performance.now();
    const words = ['chat', ...state, 'create notes/hello.md with Hello'];
    const answer = await run(drawbridge, words, { cwd: workspace, env });
    const answered = performance.now();
    expect(answer).toContain('Created notes/hello.md');
    expect(existsSync(join(workspace, 'notes', 'hello.md'))).toBe(true);
    up.kill('SIGINT');
    await once(up, 'exit');
    const megabytes = Number.parseInt(await run('du', ['-sm', prefix]), 10);
    expect(megabytes).toBeLessThanOrEqual(MAX_INSTALLED_MB);
    console.log(
      `Node ${(await run(node, ['--version'])).trim()}: installed in`,
      `${seconds(starting - installing)} (${megabytes} MB), ready in ${seconds(asking - starting)},`,
      `first answer in ${seconds(answered - asking)}`,
    );
  });

  test('the package runs by npx', async () => {
    const { env, tarball } = await prepare(version);
    const words = ['--yes', '--package', tarball, 'drawbridge', '--version'];
    const shown = await run('npx', words, { cwd: temporaryFolder(), env });
    expect(shown).toMatch(/^\d+\.\d+\.\d+\n$/);
  });
});

/** Whatever the bridge and the daemon do: a part of Node that is newer than the oldest would fail here. */
test('everything flows with the package on the oldest Node', { timeout: 20 * 60_000 }, async () => {
  const { node, env, tarball } = await prepare(OLDEST);
  const { prefix } = await install(tarball, env);
  const launcher = join(prefix, 'lib', 'node_modules', 'drawbridge', 'bin', 'drawbridge.mjs');
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
    ([variable]) => !/^(npm_|OPENAI_|MODELS$|XDG_|NODE_ENV$|VITEST)/.test(variable),
  );
  const env = {
    ...Object.fromEntries(others),
    HOME: temporaryFolder(),
    PATH: [dirname(node), ...path].join(delimiter),
    npm_config_cache: (await run('npm', ['config', 'get', 'cache'])).trim(),
  };
  return { node, tarball, env };
}

async function install(tarball: string, env: NodeJS.ProcessEnv) {
  const prefix = temporaryFolder();
  await run('npm', ['install', '--global', '--prefix', prefix, tarball], { cwd: prefix, env });
  return { prefix, drawbridge: join(prefix, 'bin', 'drawbridge') };
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

function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(1)} s`;
}
