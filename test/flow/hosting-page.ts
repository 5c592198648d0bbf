/** Follows docs/hosting.md: its code blocks, and a clone with programs in place of those that reach Cloudflare. */
import { type ChildProcess, execFile, execFileSync, spawn } from 'node:child_process';
import {
  chmodSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { rm } from 'node:fs/promises';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { onTestFinished } from 'vitest';

/** The end of a server, and the removal of all packages on a busy machine. */
const END_MS = 120_000;

const ROOT = join(import.meta.dirname, '..', '..');

/** The texts of the page's blocks of one language, by the heading that they stand under. */
export function blocksOf(language: string): ReadonlyMap<string, readonly string[]> {
  const page = readFileSync(join(ROOT, 'docs', 'hosting.md'), 'utf8');
  const found = new Map<string, string[]>();
  let heading = '';
  for (const part of page.split(/^(?=#{2,3} |```\w+$)/m)) {
    heading = /^#{2,3} (.+)$/m.exec(part)?.[1] ?? heading;
    const block = /^```(?<name>\w+)\n(?<text>.*?)^```$/ms.exec(part)?.groups;
    if (block?.['name'] !== language) continue;
    found.set(heading, [...(found.get(heading) ?? []), block['text'] ?? '']);
  }
  return found;
}

/** The text of a heading's block. */
export function blockOf(language: string, heading: string, place = 0): string {
  const text = blocksOf(language).get(heading)?.[place];
  if (text === undefined) throw new Error(`docs/hosting.md has no such block under "${heading}"`);
  return text;
}

export interface Reader {
  /** The clone, and a project of the reader's. */
  readonly clone: string;
  readonly project: string;
  readonly home: string;
  /** Runs a block to its end, as the reader's shell would, and returns its output. Throws if a command fails. */
  run(block: string, cwd?: string): Promise<string>;
  /** Starts a command that stays. It is gone after the test. */
  start(block: string, cwd?: string, env?: NodeJS.ProcessEnv): ChildProcess;
  readonly env: NodeJS.ProcessEnv;
  /** In place of `npm install`, where that is not what the test is about. */
  borrowPackages(): void;
}

/** A reader of the page with a clone of what stands here, also of what is not committed. */
export function newReader(): Reader {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'drawbridge-reader-')));
  // What a bridge started may still write its last file.
  const removal = { recursive: true, force: true, maxRetries: 20, retryDelay: 250 };
  onTestFinished(() => rm(folder, removal), END_MS);
  const [clone, home, project, bin] = ['clone', 'home', 'project', 'bin'].map((name) =>
    join(folder, name),
  ) as [string, string, string, string];
  for (const dir of [home, project, bin]) mkdirSync(dir);
  execFileSync('git', ['clone', '--quiet', ROOT, clone]);
  copyChanges(clone);
  symlinkSync(join(clone, 'bin', 'drawbridge.mjs'), join(bin, 'drawbridge'));
  writeFileSync(join(bin, 'npx'), npxWithoutCloudflare());
  chmodSync(join(bin, 'npx'), 0o755);
  const own = process.env['HOME'] ?? '';
  const env: NodeJS.ProcessEnv = {
    ...withoutSettings(process.env),
    PATH: [bin, dirname(process.execPath), process.env['PATH']].join(delimiter),
    HOME: home,
    LANG: 'C.UTF-8',
    CI: 'true',
    WRANGLER_SEND_METRICS: 'false',
    // The machine's own way to the registry, and what it has of it already.
    npm_config_userconfig: join(own, '.npmrc'),
    npm_config_cache: join(own, '.npm'),
    npm_config_prefer_offline: 'true',
  };
  const shell = ['--noprofile', '--norc', '-euo', 'pipefail', '-c'];
  return {
    clone,
    project,
    home,
    env,
    borrowPackages: () => symlinkSync(join(ROOT, 'node_modules'), join(clone, 'node_modules')),
    run: async (block, cwd = clone) => {
      const options = { cwd, env, timeout: 300_000 };
      const running = promisify(execFile)('bash', [...shell, block], options);
      running.child.stdin?.end();
      return (await running).stdout;
    },
    start(block, cwd = clone, more = {}) {
      const child = spawn('bash', [...shell, `exec ${block.trim()}`], {
        cwd,
        env: { ...env, ...more },
        stdio: ['ignore', 'pipe', 'pipe'],
      });
      onTestFinished(() => endTree(child), END_MS);
      return child;
    },
  };
}

/** Without what the developer's own shell says of models, npm and state. */
function withoutSettings(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const ours =
    /^(OPENAI_|DRAWBRIDGE_|npm_(?!config_registry)|INIT_CWD$|VITEST|NODE_(?!EXTRA_CA)|XDG_|MODELS$)/;
  return Object.fromEntries(Object.entries(env).filter(([name]) => !ours.test(name)));
}

function copyChanges(clone: string): void {
  const names = (...args: readonly string[]) =>
    execFileSync('git', [...args, '-z'], { cwd: ROOT, encoding: 'utf8' })
      .split('\0')
      .filter(Boolean);
  const changed = names('diff', '--name-only', '--diff-filter=d', 'HEAD');
  for (const name of [...changed, ...names('ls-files', '--others', '--exclude-standard')]) {
    cpSync(join(ROOT, name), join(clone, name), { recursive: true });
  }
}

/** What reaches Cloudflare is built or checked only; secrets go where `wrangler dev` reads them. */
function npxWithoutCloudflare(): string {
  return `#!/usr/bin/env bash
set -euo pipefail
real=node_modules/.bin
export PATH="$PWD/$real:$PATH"
[ "$1" = wrangler ] || exec "$real/$1" "\${@:2}"
shift
case "$1 \${2:-}" in
  'deploy '*) exec wrangler deploy --dry-run --outdir .build/deployed "\${@:2}" ;;
  'secret put') wrangler secret put --help > /dev/null; echo "$3=$(cat)" >> .dev.vars ;;
  'dev '*) exec wrangler "$@" ;;
  *) wrangler "$@" --help ;;
esac
`;
}

async function endTree(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const gone = new Promise((resolve) => child.once('exit', resolve));
  child.kill('SIGTERM');
  const killing = setTimeout(() => child.kill('SIGKILL'), 10_000);
  await gone;
  clearTimeout(killing);
}

/** A port that was free a moment ago. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

/** What a process writes until the text appears. */
export async function written(child: ChildProcess, text: string): Promise<string> {
  let output = '';
  return await new Promise((resolve, reject) => {
    const take = (piece: unknown) => {
      output += String(piece);
      if (output.includes(text)) resolve(output);
    };
    child.stdout?.on('data', take);
    child.stderr?.on('data', take);
    child.once('exit', () => reject(new Error(`it ended without "${text}": ${output}`)));
  });
}
