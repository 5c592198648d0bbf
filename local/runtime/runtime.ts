/** Runs the Worker on workerd: writes its configuration, runs its process, opens its one socket. */
import { type ChildProcess, spawn } from 'node:child_process';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import * as z from 'zod';
import { tieToUs } from '../../machine/lifeline.ts';
import { replaceFile } from '../../machine/private-files.ts';
import { LOCAL_LIMITS } from '../limits.ts';
import type { LogFile } from '../processes/log-file.ts';
import { supervise } from '../processes/supervise.ts';
import { hostInUrl, LOOPBACK } from './address.ts';
import { CONFIG, workerdConfig } from './workerd-config.ts';
import type { WranglerConfig } from './wrangler-config.ts';

type RuntimeVariables = Readonly<Record<string, string>>;

export interface Runtime {
  readonly wrangler: WranglerConfig;
  /** Contains the module; the configuration is written here. */
  readonly buildDir: string;
  readonly moduleFile: string;
  readonly storageDir: string;
  /** The files of the web page. */
  readonly pageDir: string;
  /** The address to listen on. */
  readonly host?: string | undefined;
  /** See {@link ConfigOptions}. */
  readonly isBehindProxy?: boolean | undefined;
  /** The exporter of spans, in `buildDir`, and its `env`; absent where spans go nowhere. */
  readonly exporter?:
    | { readonly moduleFile: string; readonly variables: RuntimeVariables }
    | undefined;
  /** 0 is any free port. Restarts use the port of the first start. */
  readonly port: number;
  /** The Worker's `env`, with secrets. The process gets them only in its environment. */
  readonly variables: RuntimeVariables;
  /** Gets all output of workerd. */
  readonly log: LogFile;
  /** Called before each start, while no process has the storage open. */
  beforeStart?(): void;
  /** Called when the port is open, after each start. */
  onListening(port: number): void;
  onRestart(death: string): void;
}

/** Runs the Worker until `signal` aborts; restarts it when it dies. @throws {LocalError} if it keeps dying. */
export async function runWorker(runtime: Runtime, signal: AbortSignal): Promise<void> {
  const { wrangler, buildDir, moduleFile, variables } = runtime;
  const configPath = join(buildDir, 'workerd.capnp');
  const { isBehindProxy, exporter } = runtime;
  const names = Object.keys(variables);
  const options = {
    isBehindProxy,
    ...(exporter && { exporter: { ...exporter, variables: Object.keys(exporter.variables) } }),
  };
  replaceFile(configPath, workerdConfig(wrangler, moduleFile, names, options));
  let port = runtime.port;
  const start = () => {
    runtime.beforeStart?.();
    return startWorkerd({ ...runtime, port }, configPath, (listeningPort) => {
      port = listeningPort;
      runtime.onListening(port);
    });
  };
  const { workerGraceMs: graceMs } = LOCAL_LIMITS;
  await supervise('The Worker', start, { graceMs, onRestart: runtime.onRestart }, signal);
}

function startWorkerd(
  { host = LOOPBACK, port, pageDir, storageDir, variables, exporter, log }: Runtime,
  configPath: string,
  onListening: (port: number) => void,
): ChildProcess {
  const args = ['serve', configPath, CONFIG.constant];
  args.push('--socket-addr', `${CONFIG.socket}=${hostInUrl(host)}:${port}`);
  args.push('--directory-path', `${CONFIG.storage}=${storageDir}`);
  args.push('--directory-path', `${CONFIG.page}=${pageDir}`);
  args.push('--control-fd', `${CONTROL_FD}`);
  const child = spawn(workerdPath(), args, {
    stdio: ['ignore', 'pipe', 'pipe', 'pipe'],
    env: { ...variables, ...exporter?.variables },
    // Outside the terminal's process group: on Ctrl-C the bridge ends first, then the Worker.
    detached: true,
  });
  tieToUs(child);
  for (const output of [child.stdout, child.stderr]) {
    const lines = new LogLines((text) => log.append(text));
    output?.setEncoding('utf8').on('data', (text: string) => lines.push(text));
    output?.on('end', () => lines.end());
  }
  readControl(child.stdio[CONTROL_FD] as Readable, onListening);
  return child;
}

/** Passes on the whole lines of workerd, without those about a CONNECT. */
export class LogLines {
  readonly #pass: (text: string) => void;
  #rest = '';

  constructor(pass: (text: string) => void) {
    this.#pass = pass;
  }

  push(text: string): void {
    const whole = this.#rest + text;
    const end = whole.lastIndexOf('\n') + 1;
    this.#rest = whole.slice(end);
    const lines = whole.slice(0, end).replaceAll(OF_CONNECT, '');
    if (lines !== '') this.#pass(lines);
  }

  /** Passes on what has no line end. */
  end(): void {
    if (this.#rest !== '') this.#pass(`${this.#rest}\n`);
    this.#rest = '';
  }
}

/**
 * What workerd writes about a CONNECT. It answers 500, and opens nothing; a handler of ours could only answer 200. A line
 * of the Worker is JSON, and may hold these words: a stranger chooses what stands in it.
 */
const OF_CONNECT =
  /^(?!\{).*(?:Received a connect event but we lack|Handler does not export a connect\(\) function).*\n/gm;

/** The file descriptor in workerd: the fourth entry of `stdio`. */
const CONTROL_FD = 3;

const ListenMessage = z.object({
  event: z.literal('listen'),
  socket: z.literal(CONFIG.socket),
  port: z.int(),
});

function readControl(control: Readable, onListening: (port: number) => void): void {
  createInterface({ input: control }).on('line', (line) => {
    const message = ListenMessage.safeParse(JSON.parse(line)).data;
    if (message) onListening(message.port);
  });
}

/** The binary itself: `workerd` in `.bin` may be a Node script, whose death would leave the binary running. */
export function workerdPath(): string {
  const module: unknown = createRequire(import.meta.url)('workerd');
  return z.object({ default: z.string() }).parse(module).default;
}
