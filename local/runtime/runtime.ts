/** The Worker on workerd itself: its configuration, its process, its one socket. */
import { type ChildProcess, spawn } from 'node:child_process';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import * as z from 'zod';
import { replaceFile } from '../../machine/private-files.ts';
import { LOCAL_LIMITS } from '../limits.ts';
import { tieToUs } from '../processes/lifeline.ts';
import type { LogFile } from '../processes/log-file.ts';
import { supervise } from '../processes/supervise.ts';
import { CONFIG, workerdConfig } from './workerd-config.ts';
import type { WranglerConfig } from './wrangler-config.ts';

export interface Runtime {
  readonly wrangler: WranglerConfig;
  /** Holds the module, and gets the configuration. */
  readonly buildDir: string;
  readonly moduleFile: string;
  readonly storageDir: string;
  /** 0 is any free port; it stays the same for every further start. */
  readonly port: number;
  /** What the Worker finds in `env`. Secrets: they are given to the process in its environment and nowhere else. */
  readonly variables: Readonly<Record<string, string>>;
  /** Takes everything workerd writes. */
  readonly log: LogFile;
  /** The port is open, for the first time or again. */
  onListening(port: number): void;
  onRestart(death: string): void;
}

/**
 * Runs the Worker until `signal` aborts, and starts it again whenever it dies.
 * @throws {LocalError} if it keeps dying.
 */
export async function runWorker(runtime: Runtime, signal: AbortSignal): Promise<void> {
  const { wrangler, buildDir, moduleFile, variables } = runtime;
  const configPath = join(buildDir, 'workerd.capnp');
  await replaceFile(configPath, workerdConfig(wrangler, moduleFile, Object.keys(variables)));
  let port = runtime.port;
  const start = () =>
    startWorkerd({ ...runtime, port }, configPath, (listeningPort) => {
      port = listeningPort;
      runtime.onListening(port);
    });
  const { workerGraceMs: graceMs } = LOCAL_LIMITS;
  await supervise('The Worker', start, { graceMs, onRestart: runtime.onRestart }, signal);
}

function startWorkerd(
  { port, storageDir, variables, log }: Runtime,
  configPath: string,
  onListening: (port: number) => void,
): ChildProcess {
  const args = ['serve', configPath, CONFIG.constant];
  args.push('--socket-addr', `${CONFIG.socket}=127.0.0.1:${port}`);
  args.push('--directory-path', `${CONFIG.storage}=${storageDir}`);
  args.push('--control-fd', `${CONTROL_FD}`);
  const child = spawn(workerdPath(), args, {
    stdio: ['ignore', 'pipe', 'pipe', 'pipe'],
    env: variables,
    // Out of the terminal's group: on Ctrl-C the bridge ends first, then the Worker.
    detached: true,
  });
  tieToUs(child);
  for (const output of [child.stdout, child.stderr]) {
    output?.setEncoding('utf8').on('data', (text: string) => log.append(text));
  }
  readControl(child.stdio[CONTROL_FD] as Readable, onListening);
  return child;
}

/** Of workerd's side; the fourth entry of its `stdio`. */
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

/** The real binary: `workerd` in `.bin` may be a Node script around it, which would die without it. */
function workerdPath(): string {
  const module: unknown = createRequire(import.meta.url)('workerd');
  return z.object({ default: z.string() }).parse(module).default;
}
