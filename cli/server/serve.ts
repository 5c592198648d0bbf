/** `drawbridge serve`: runs the API on a server, behind a proxy that does TLS, until SIGTERM or Ctrl-C. */
import { isIP } from 'node:net';
import { userInfo } from 'node:os';
import { resolve } from 'node:path';
import { type Command, InvalidArgumentError } from 'commander';
import { byLines } from '../../local/processes/log-file.ts';
import type { ServerOptions } from '../../local/server/server.ts';
import type { Programs } from '../../local/server/worker.ts';
import { isOrigin } from '../../local/settings.ts';
import { formatLogLine, type LogEntry, type TellNotice } from '../../machine/log-line.ts';
import { inOneLine } from '../../shared/text/plain-sight.ts';
import { isAccount } from '../target/account-name.ts';
import { abortOnInterrupt } from '../terminal/ending.ts';
import { ownCommand } from '../terminal/own-command.ts';
import { printErr, printOut } from '../terminal/print.ts';
import { PORT_HELP, parsePort } from './port.ts';
import { modelLine, nameModel } from './ready.ts';
import { runHere, untilInterrupted } from './run.ts';
import { readStartSettings } from './start-settings.ts';

interface ServeOptions {
  readonly state: string;
  readonly port?: number;
  readonly host: string;
  readonly trustProxy: boolean;
  readonly publicUrl?: string;
}

const LOOPBACK = '127.0.0.1';

export function registerServe(program: Command, programs: Programs): void {
  program
    .command('serve')
    .description('Run the API on a server, behind a proxy that does TLS, until SIGTERM')
    .requiredOption('--state <folder>', 'the folder of the keys and conversations')
    .option('--port <number>', PORT_HELP, parsePort)
    .option('--host <address>', 'the IP address to listen on; 0.0.0.0 for all', parseHost, LOOPBACK)
    .option('--trust-proxy', 'trust X-Forwarded-Proto and -For, which the proxy must set', false)
    .option('--public-url <url>', 'where clients reach the API, such as https://…', parsePublicUrl)
    .action(async (options: ServeOptions) => {
      const signal = abortOnInterrupt();
      await untilInterrupted((isReady) => serve(options, programs, isReady, signal), signal);
    });
}

async function serve(
  { state, port, host, trustProxy, publicUrl }: ServeOptions,
  programs: Programs,
  isReady: () => void,
  signal: AbortSignal,
): Promise<never> {
  const teller = process.stdout.isTTY ? tellPerson() : tellLog();
  const { workerSettings, ...read } = await readStartSettings(
    { port, json: true },
    teller.warn,
    signal,
  );
  const settings = {
    ...read,
    workerSettings: { ...workerSettings, ...(publicUrl && { PUBLIC_URL: publicUrl }) },
  };
  const place = { kind: 'own', serverDir: resolve(state) } as const;
  const { serverDir: stateDir } = place;
  const onReady: ServerOptions['onReady'] = async ({ url }) => {
    isReady();
    teller.ready({ url, publicUrl, model: modelLine(nameModel(read.model)), stateDir });
    if (host === LOOPBACK || trustProxy) return;
    const line = `It listens on ${host} without TLS: let only a proxy reach this port.`;
    teller.notice(line, 'port_open');
  };
  const api = { withBridges: false, sharesTerminal: false, host, isBehindProxy: trustProxy };
  const listeners = { onReady, onNotice: teller.notice, onOutput: teller.output };
  return await runHere({ place, programs, settings, ...api, ...listeners }, signal);
}

interface ServedSettings {
  readonly url: string;
  readonly publicUrl: string | undefined;
  readonly model: string;
  readonly stateDir: string;
}

interface Teller {
  ready(served: ServedSettings): void;
  readonly notice: TellNotice;
  /** A danger in the settings. */
  warn(line: string): void;
  /** What the Worker writes; a person finds it in the log file. */
  output(text: string): void;
}

function tellPerson(): Teller {
  const warn = (line: string) => printErr(`${inOneLine(line)}\n`);
  return {
    ready: (served) => printOut(servedText(served)),
    notice: warn,
    warn,
    output: () => {},
  };
}

/** Every event is one line of stdout, in the form of the Worker's own log (worker/health/log.ts), which is there too. */
function tellLog(): Teller {
  const write = (entry: LogEntry) => printOut(formatLogLine(entry, new Date()));
  const notice: TellNotice = (message, event) => void write({ event, message });
  return {
    ready: ({ url, publicUrl, model }) => write({ event: 'ready', url, publicUrl, model }),
    notice,
    warn: (line) => notice(line, 'key_readable'),
    output: byLines((line) => printOut(`${line}\n`)),
  };
}

function servedText({ url, publicUrl, model, stateDir }: ServedSettings): string {
  const { username } = userInfo();
  const account = isAccount(username) ? username : 'owner';
  return `
Drawbridge is ready. Ctrl-C ends it.

  API     ${url}${publicUrl ? `, for clients ${publicUrl}` : ''}
  Model   ${inOneLine(model)}
  State   ${inOneLine(stateDir)}
  People  ${ownCommand('invite', account, '--state', stateDir)}

`;
}

function parseHost(text: string): string {
  if (isIP(text)) return text;
  throw new InvalidArgumentError('It is an IP address, such as 127.0.0.1, 0.0.0.0 or ::1.');
}

function parsePublicUrl(text: string): string {
  if (isOrigin(text)) return new URL(text).origin;
  throw new InvalidArgumentError(
    'It has a scheme, a host and no path, such as https://agent.example.com.',
  );
}
