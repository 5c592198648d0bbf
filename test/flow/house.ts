/** Starts the whole house as a user does: `drawbridge up` as a process, on a workspace and a state of its own. */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { chownSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import * as z from 'zod';
import { openInstalled } from '../../bench/installed.ts';
import { WorktreeStore } from '../../bridge/worktrees/store.ts';
import { type Client, createClient } from '../../client/index.ts';
import { treeOf } from '../local/processes.ts';

/** The launcher of this clone. */
export const DRAWBRIDGE = join(import.meta.dirname, '..', '..', 'bin', 'drawbridge.mjs');
/** The program that is tested, in words by lines: this clone's, unless test/interop/package.interop.ts names another. */
export const PROGRAM = readProgram();

function readProgram(): readonly [program: string, ...words: string[]] {
  const [program, ...words] = process.env['DRAWBRIDGE_TEST_PROGRAM']?.split('\n') ?? [];
  return program ? [program, ...words] : [process.execPath, DRAWBRIDGE];
}

const Ready = z.object({
  event: z.literal('ready'),
  url: z.string(),
  token: z.string(),
  bridgeId: z.string().nullable(),
  model: z.string().nullable(),
});
export type Ready = z.infer<typeof Ready>;

export interface House extends AsyncDisposable {
  readonly ready: Ready;
  /** Holds both of them. */
  readonly folder: string;
  readonly workspace: string;
  readonly state: string;
  readonly client: Client;
  readonly up: ChildProcess;
  /** Everything `up` wrote to stderr so far. */
  readonly log: () => string;
  /** A request to the API with the user's token. */
  fetch(path: string, init?: RequestInit): Promise<Response>;
}

export interface HouseOptions {
  /** Where the scripted model answers; the demo model without it. */
  readonly modelUrl?: string;
  readonly args?: readonly string[];
  /** That of a house that was killed: this one goes on with its state. */
  readonly folder?: string;
  /** Made by the caller. Default: one in the folder. */
  readonly workspace?: string;
  readonly variables?: Readonly<Record<string, string>>;
  /** Puts files into the workspace before anything starts. */
  readonly prepare?: (workspace: string) => void;
  /** The workspace stays with the bridge's user. Else root could start no MCP server outside the sandbox. */
  readonly isOfBridge?: boolean;
  /** The Node that runs it as an installed package. Default: the one of the tests, which runs this clone. */
  readonly node?: string;
  /** The owner's rules. Plain commands are allowed without them: a machine without a sandbox would ask for each. */
  readonly rules?: readonly Rule[];
}

export interface Rule {
  readonly tool: string;
  readonly pattern: string;
  readonly decision: 'allow' | 'ask' | 'deny';
}

const COMMANDS_ALLOWED: readonly Rule[] = [
  { tool: 'run_terminal_cmd', pattern: '*', decision: 'allow' },
];

export async function startHouse(options: HouseOptions = {}): Promise<House> {
  const folder = options.folder ?? mkdtempSync(join(tmpdir(), 'drawbridge-flow-'));
  const workspace = options.workspace ?? join(folder, 'workspace');
  const state = join(folder, 'state');
  if (options.folder === undefined) furnish(workspace, state, options);
  if (options.isOfBridge !== true) giveAway(folder, workspace);
  const installed = options.node === undefined ? undefined : await openInstalled(options.node);
  const [program, ...words] = installed?.words ?? PROGRAM;
  const up = spawn(program, [...words, ...upArguments(workspace, state, options)], {
    cwd: workspace,
    env: environment(options),
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  // A test that runs out of time never disposes of its house; what is below `up` ends with it.
  const endWithUs = () => up.kill('SIGKILL');
  process.once('exit', endWithUs);
  let log = '';
  up.stderr?.setEncoding('utf8').on('data', (text: string) => {
    log += text;
  });
  const ready = await readReady(up, () => log);
  return {
    ready,
    folder,
    workspace,
    state,
    up,
    client: createClient({ url: ready.url, token: ready.token }),
    log: () => log,
    fetch: (path, init = {}) => {
      const headers = new Headers(init.headers);
      if (!headers.has('authorization')) headers.set('authorization', `Bearer ${ready.token}`);
      return fetch(new URL(path, ready.url), { ...init, headers });
    },
    [Symbol.asyncDispose]: async () => {
      await endProcess(up);
      installed?.[Symbol.dispose]();
      process.off('exit', endWithUs);
      rmSync(new WorktreeStore(state).folder, { recursive: true, force: true });
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Sends SIGINT, as Ctrl-C does, and waits for the process to be gone. */
export async function endProcess(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exited = once(child, 'exit');
  child.kill('SIGINT');
  await exited;
}

/** The workerd process of a house. */
export function workerdOf(house: House): number {
  const workerd = treeOf(house.up.pid ?? 0).find(({ command }) =>
    /workerd\S* serve /.test(command),
  );
  if (!workerd) throw new Error(`no workerd below ${house.up.pid}`);
  return workerd.pid;
}

/** Resolves when the condition holds; the test's own time limit is the bound. */
export async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await condition())) await new Promise((resolve) => setTimeout(resolve, 50));
}

/** For `prepare`: a repository with one commit. */
export function makeRepository(workspace: string): void {
  const run = (...args: string[]) => execFileSync('git', args, { cwd: workspace });
  run('init', '--quiet', '--initial-branch=main');
  writeFileSync(join(workspace, 'old.txt'), 'old\n');
  run('add', '.');
  const person = ['-c', 'user.name=Ada', '-c', 'user.email=ada@example.com'];
  run(...person, 'commit', '--quiet', '-m', 'first');
}

function furnish(workspace: string, state: string, options: HouseOptions): void {
  mkdirSync(workspace);
  options.prepare?.(workspace);
  putState(state, { 'policy.json': JSON.stringify({ rules: options.rules ?? COMMANDS_ALLOWED }) });
}

/** A state folder that exists must carry the mark of being one: its secret. */
function putState(state: string, files: Record<string, string>): void {
  mkdirSync(state, { recursive: true, mode: 0o700 });
  const secret = randomBytes(32).toString('base64url');
  for (const [name, text] of Object.entries({ 'auth-secret': secret, ...files })) {
    writeFileSync(join(state, name), text, { mode: 0o600 });
  }
}

/** A bridge of root's confines commands only in another user's workspace. */
function giveAway(folder: string, workspace: string): void {
  if (process.getuid?.() !== 0) return;
  chownSync(folder, 1234, 1234);
  execFileSync('chown', ['-R', '1234:1234', workspace]);
}

function upArguments(workspace: string, state: string, { args = [] }: HouseOptions): string[] {
  return ['up', '--port', '0', '--workspace', workspace, '--state', state, '--json', ...args];
}

function environment({ modelUrl, variables }: HouseOptions): NodeJS.ProcessEnv {
  const unset = [
    ...['OPENAI_API_KEY', 'OPENAI_BASE_URL', 'OPENAI_MODEL'],
    ...['ALLOWED_ORIGINS', 'TEXT_ONLY_MODELS', 'PRIVATE_MODELS', 'DELETE_AFTER_HOURS'],
    ...['RATE_LIMIT_REQUESTS_PER_MINUTE', 'RATE_LIMIT_RUNS_PER_MINUTE'],
  ];
  const rest = Object.entries(process.env).filter(([name]) => !unset.includes(name));
  const scripted = {
    OPENAI_BASE_URL: modelUrl,
    OPENAI_MODEL: 'scripted',
    OPENAI_API_KEY: 'sk-scripted',
  };
  const own = { ...(modelUrl && scripted), XDG_CONFIG_HOME: SETTINGS };
  return { ...Object.fromEntries(rest), ...own, ...variables };
}

/** No code in prompts: whether the index is there when a message comes depends on the machine. */
const SETTINGS = join(import.meta.dirname, 'settings');

async function readReady(up: ChildProcess, log: () => string): Promise<Ready> {
  if (!up.stdout) throw new Error('up has no stdout');
  const lines = createInterface({ input: up.stdout });
  const exited = once(up, 'exit').then(([code]) => {
    throw new Error(`up ended with ${code}:\n${log()}`);
  });
  const [line] = (await Promise.race([once(lines, 'line'), exited])) as [string];
  return Ready.parse(JSON.parse(line));
}
