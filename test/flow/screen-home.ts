/** One machine for all screens of a test file: its state, a folder, a server, a model. */
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll } from 'vitest';
import { openTmux, type TmuxOptions, type TmuxScreen } from '../cli/tmux.ts';
import type { ScriptedRequest } from '../far-ends/reply-script.ts';
import {
  type ScriptedAnswer,
  type ScriptedModel,
  startScriptedModel,
} from '../far-ends/scripted-model.ts';
import { PROGRAM } from './house.ts';

export interface ScreenHome {
  /** Where the screens open. */
  readonly folder: string;
  /** The variables of its screens and commands. */
  env(): Readonly<Record<string, string>>;
  /** Every request to the model so far, in order. */
  requests(): readonly ScriptedRequest[];
  /** Sets what the model answers from now on. */
  answer(script: (request: ScriptedRequest) => ScriptedAnswer): void;
  /** Opens `drawbridge` in the folder, once the person can write. */
  open(args?: readonly string[], options?: TmuxOptions): Promise<TmuxScreen>;
  /** Runs `drawbridge` to its end, and returns what it printed. */
  run(...args: string[]): Promise<string>;
}

/** Call it once for a file, outside its tests. `own` variables go to every screen and command. */
export function screenHome(own: Readonly<Record<string, string>> = {}): ScreenHome {
  const home = mkdtempSync(join(tmpdir(), 'drawbridge-screen-'));
  const folder = join(home, 'folder');
  mkdirSync(folder);
  const env = { XDG_STATE_HOME: home, XDG_CONFIG_HOME: home };
  let port = '0';
  let script: (request: ScriptedRequest) => ScriptedAnswer = () => ({ text: 'No script.' });
  let model: ScriptedModel | undefined;
  const variables = () => ({
    ...env,
    DRAWBRIDGE_PORT: port,
    DRAWBRIDGE_PRESET: 'ask',
    OPENAI_MODEL: 'scripted',
    ...own,
    OPENAI_BASE_URL: model?.baseUrl ?? '',
  });
  const run = async (...args: string[]) => {
    const [program, ...first] = PROGRAM;
    const options = { cwd: folder, env: { ...process.env, ...variables() } };
    const running = promisify(execFile)(program, [...first, ...args], options);
    running.child.stdin?.end();
    const { stdout, stderr } = await running;
    return stdout + stderr;
  };
  beforeAll(async () => {
    port = String(await freePort());
    model = await startScriptedModel((request) => script(request));
    // The program may have to be built first: no screen waits for that.
    await run('start');
  });
  afterAll(async () => {
    await run('stop');
    await model?.close();
    rmSync(home, { recursive: true, force: true, maxRetries: 5 });
  });
  return {
    folder,
    run,
    env: variables,
    requests: () => model?.requests ?? [],
    answer: (next) => {
      script = next;
    },
    async open(args = [], options = {}) {
      const here = { cwd: folder, ...options, env: { ...variables(), ...options.env } };
      const screen = await openTmux([...PROGRAM, ...args], here);
      await screen.shows(/^─+\s*$/m);
      return screen;
    },
  };
}

/** A server that is started again has the same port, as one of a person has. */
async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

/** What the person asked last in this request. */
export function askedIn({ messages }: ScriptedRequest): string {
  const asked = messages
    .filter(({ role }) => role === 'user')
    .map(({ content }) => String(content));
  return (
    asked
      .flatMap((text) => /<user_query>\n([\s\S]*?)\n<\/user_query>/.exec(text)?.[1] ?? [])
      .at(-1) ?? ''
  );
}

/** Answers a dialog by the number of its choice, as a person who looks first: the dialog says when it listens. */
export async function answer(screen: TmuxScreen, number: number): Promise<void> {
  await screen.shows('Enter: answer');
  await screen.type(String(number));
  await screen.shows(new RegExp(`❯ ${number} `));
  await confirm(screen);
}

/** Presses Enter, and not at once: keys without any pause are no person's. */
export async function confirm(screen: TmuxScreen): Promise<void> {
  await pause(HAND_MS);
  await screen.press('Enter');
}

/** Milliseconds. */
export async function pause(ms: number): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, ms));
}

const HAND_MS = 100;
