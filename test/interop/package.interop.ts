import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { temporaryFolder } from '../local/temporary-folder.ts';
import { pack, ROOT } from '../package/pack.ts';
import { installPackages } from './foreign-packages.ts';

const run = (program: string, args: readonly string[], options: Place = {}) =>
  promisify(execFile)(program, args, { ...options, timeout: MOST_MS });

interface Place {
  readonly cwd?: string;
  readonly env?: NodeJS.ProcessEnv;
}

/** An install that cannot reach the registry would try for a quarter of an hour. */
const MOST_MS = 3 * 60_000;

/** The oldest Node that the package runs on, and the newest of each later line. */
const NODES = ['20.19.0', '22', '24'];
/** Of an empty prefix after the install; workerd alone takes 150. */
const MAX_INSTALLED_MB = 230;

describe.each(NODES)('the package on Node %s', (version) => {
  let node: string;
  let folder: string;
  let tarball: string;
  beforeAll(async () => {
    const name = `node-${process.platform}-${process.arch}`;
    const packages = await installPackages([`${name}@${version}`]);
    folder = packages.folder;
    node = join(folder, 'node_modules', name, 'bin', 'node');
    ({ tarball } = await pack(ROOT, folder));
    return async () => await packages[Symbol.asyncDispose]();
  });

  /** A user's shell with a new home, and without a model. npm keeps its cache, which may hold workerd. */
  async function environment() {
    const { stdout: cache } = await run('npm', ['config', 'get', 'cache'], { cwd: folder });
    const { PATH = '' } = process.env;
    const path = PATH.split(delimiter).filter((dir) => !dir.includes('node_modules'));
    const own = Object.entries(process.env).filter(
      ([name]) => !/^(npm_|OPENAI_|MODELS$|XDG_|NODE_ENV$|VITEST)/.test(name),
    );
    return {
      ...Object.fromEntries(own),
      HOME: temporaryFolder(),
      PATH: [dirname(node), ...path].join(delimiter),
      npm_config_cache: cache.trim(),
    };
  }

  test('installs from an empty prefix to the first answer', async () => {
    const env = await environment();
    const prefix = temporaryFolder();
    const workspace = join(temporaryFolder(), 'workspace');
    mkdirSync(workspace);
    const started = performance.now();
    await run('npm', ['install', '--global', '--prefix', prefix, tarball], { cwd: folder, env });
    const installed = performance.now();
    const drawbridge = join(prefix, 'bin', 'drawbridge');
    const shown = await run(drawbridge, ['--version'], { env });
    expect(shown.stdout).toMatch(/^\d+\.\d+\.\d+\n$/);
    const begun = performance.now();
    const state = ['--state', join(temporaryFolder(), 'state')];
    const up = spawn(drawbridge, ['up', '--json', '--port', '0', ...state], {
      ...{ cwd: workspace, env },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    onTestFinished(() => void up.kill('SIGKILL'));
    await once(createInterface({ input: up.stdout }), 'line');
    const ready = performance.now();
    const words = ['chat', ...state, 'create notes/hello.md with Hello'];
    const { stdout } = await run(drawbridge, words, { cwd: workspace, env });
    const answered = performance.now();
    expect(stdout).toContain('Created notes/hello.md');
    expect(existsSync(join(workspace, 'notes', 'hello.md'))).toBe(true);
    up.kill('SIGINT');
    await once(up, 'exit');
    const megabytes = Number.parseInt((await run('du', ['-sm', prefix])).stdout, 10);
    expect(megabytes).toBeLessThanOrEqual(MAX_INSTALLED_MB);
    const { stdout: exact } = await run(node, ['--version']);
    console.log(
      `Node ${exact.trim()}: installed in ${seconds(installed - started)} (${megabytes} MB),`,
      `ready in ${seconds(ready - begun)}, first answer in ${seconds(answered - ready)}`,
    );
  });

  test('runs by npx', async () => {
    const env = await environment();
    const words = ['--yes', '--package', tarball, 'drawbridge', '--version'];
    const { stdout } = await run('npx', words, { cwd: temporaryFolder(), env });
    expect(stdout).toMatch(/^\d+\.\d+\.\d+\n$/);
  });
});

function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(1)} s`;
}
