/** `drawbridge` as a real process, started by one test and gone after it. */
import { type ChildProcess, spawn } from 'node:child_process';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { onTestFinished } from 'vitest';
import { processesWith } from '../local/processes.ts';
import { temporaryFolder } from '../local/temporary-folder.ts';
import { DRAWBRIDGE } from './bundle.ts';

/** Node keeps what V8 has compiled: half of a short command's time. */
const COMPILED = {
  NODE_COMPILE_CACHE: join(import.meta.dirname, '..', '..', '.build', 'compiled'),
  // One copy for all state folders (vitest.config.ts).
  DRAWBRIDGE_PROGRAMS: process.env['DRAWBRIDGE_PROGRAMS'],
};

export interface Finished {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface Ready {
  readonly event: 'ready';
  readonly url: string;
  readonly token: string;
  readonly bridgeId: string | null;
  readonly model: string | null;
}

export interface Drawbridge {
  readonly process: ChildProcess;
  /** Its first line on stdout. */
  readonly firstLine: Promise<string>;
  readonly finished: Promise<Finished>;
  /** What it wrote there so far. */
  stdout(): string;
  stderr(): string;
}

export interface Place {
  readonly workspaceDir: string;
  readonly stateDir: string;
  /** Every process of the instance has the state folder in its command line. */
  processes(): ReturnType<typeof processesWith>;
}

/** An empty workspace and a state folder yet to be made. */
export function newPlace(): Place {
  const workspaceDir = temporaryFolder();
  const stateDir = join(temporaryFolder(), 'state');
  return { workspaceDir, stateDir, processes: () => processesWith(stateDir) };
}

/** Runs a command line to its end. */
export function runDrawbridge(args: string[], options: StartOptions = {}): Promise<Finished> {
  return startDrawbridge(args, options).finished;
}

export interface StartOptions {
  readonly env?: NodeJS.ProcessEnv;
  readonly cwd?: string;
  /** The program and its first arguments. */
  readonly program?: [string, ...string[]];
  /** What is piped in; null is a pipe that stays open and silent, as some parents leave it behind. */
  readonly input?: string | Buffer | null;
}

export function startDrawbridge(
  args: string[],
  { env = {}, cwd, program = [process.execPath, DRAWBRIDGE], input }: StartOptions = {},
): Drawbridge {
  const [command, ...first] = program;
  const child = spawn(command, [...first, ...args], {
    stdio: [input === undefined ? 'ignore' : 'pipe', 'pipe', 'pipe'],
    env: environmentOf(env),
    cwd,
  });
  const { stdin, stdout, stderr } = child;
  if (!stdout || !stderr) throw new Error('The process has no pipes.');
  // A reader that has enough closes the pipe.
  stdin?.on('error', () => {});
  if (input !== null) stdin?.end(input);
  onTestFinished(() => void child.kill('SIGKILL'));
  const pipes = { stdout, stderr };
  const texts = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr'] as const) {
    pipes[name].setEncoding('utf8').on('data', (text: string) => {
      texts[name] += text;
    });
  }
  const firstLine = new Promise<string>((resolve) => {
    createInterface({ input: stdout }).once('line', resolve);
  });
  const finished = new Promise<Finished>((resolve) => {
    child.once('close', (code) => resolve({ code, ...texts }));
  });
  return {
    process: child,
    firstLine,
    finished,
    stdout: () => texts.stdout,
    stderr: () => texts.stderr,
  };
}

/** Starts `up --json` on a free port and waits until it is ready. What it says instead is the error. */
export async function startReady(place: Place, extra: string[] = [], env: NodeJS.ProcessEnv = {}) {
  const drawbridge = startDrawbridge([...upArguments(place), ...extra], { env });
  const end = drawbridge.finished.then(({ stderr }) => Promise.reject(new Error(stderr)));
  // The end after the test is no failure.
  end.catch(() => {});
  const ready: Ready = JSON.parse(await Promise.race([drawbridge.firstLine, end]));
  return { ...drawbridge, ready };
}

export function upArguments({ workspaceDir, stateDir }: Place): string[] {
  return ['up', '--json', '--port', '0', '--workspace', workspaceDir, '--state', stateDir];
}

/** This environment, without the developer's settings of models, npm and tokens, and with `more`. */
export function environmentOf(more: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const ours = /^(OPENAI_|DRAWBRIDGE_|npm_|INIT_CWD$|VITEST|NODE_)/;
  return {
    ...Object.fromEntries(Object.entries(process.env).filter(([name]) => !ours.test(name))),
    ...COMPILED,
    // Tests control the fake bridge by this variable.
    DRAWBRIDGE_PASS_ENV: 'FAKE_BRIDGE',
    // No test reads the developer's own config.json.
    XDG_CONFIG_HOME: '/nonexistent',
    ...more,
  };
}
