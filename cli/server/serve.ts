/** `drawbridge serve`: runs the API on a server, behind a proxy that does TLS, until SIGTERM or Ctrl-C. */
import { existsSync } from 'node:fs';
import { isIP } from 'node:net';
import { userInfo } from 'node:os';
import { join, resolve } from 'node:path';
import { type Command, InvalidArgumentError } from 'commander';
import { byLines } from '../../local/processes/log-file.ts';
import type { ServerOptions } from '../../local/server/server.ts';
import type { Programs } from '../../local/server/worker.ts';
import { isOrigin } from '../../local/settings.ts';
import { STATE_MARK } from '../../local/state/folder.ts';
import { readAuthSecret } from '../../local/state/state.ts';
import { formatLogLine, type LogEntry, type TellNotice } from '../../machine/log-line.ts';
import { inOneLine } from '../../shared/text/plain-sight.ts';
import { isAccount } from '../target/account-name.ts';
import { actingFor } from '../target/operator.ts';
import { abortOnInterrupt } from '../terminal/ending.ts';
import { ownCommand } from '../terminal/own-command.ts';
import { linkTo } from './page-link.ts';
import { PORT_HELP, parsePort } from './port.ts';
import { modelText } from './ready.ts';
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
    .option('--trust-proxy', 'believe X-Forwarded-Proto, which the proxy must set itself', false)
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
  const isNew = !existsSync(join(stateDir, STATE_MARK));
  const onReady: ServerOptions['onReady'] = async ({ url }) => {
    isReady();
    const isFirst = isNew && teller.isPrivate;
    const first = isFirst ? await inviteFirst({ url, publicUrl, stateDir }) : undefined;
    teller.ready({ url, publicUrl, model: modelText(read.model), stateDir, first });
    if (host === LOOPBACK || trustProxy) return;
    const line = `It listens on ${host} without TLS: let only a proxy reach this port.`;
    teller.notice(line, 'port_open');
  };
  const api = { withBridges: false, sharesTerminal: false, host, isBehindProxy: trustProxy };
  const listeners = { onReady, onNotice: teller.notice, onOutput: teller.output };
  return await runHere({ place, programs, settings, ...api, ...listeners }, signal);
}

/** For a server without people. Undefined where that fails: the other way is always shown. */
async function inviteFirst({
  url,
  publicUrl,
  stateDir,
}: Pick<ServedSettings, 'url' | 'publicUrl' | 'stateDir'>): Promise<FirstPerson | undefined> {
  const { username } = userInfo();
  const account = isAccount(username) ? username : 'owner';
  try {
    const secret = (await readAuthSecret(stateDir)) ?? '';
    return { account, link: await linkTo(await actingFor(account, { url, secret }), publicUrl) };
  } catch {
    return undefined;
  }
}

interface FirstPerson {
  readonly account: string;
  readonly link: string;
}

interface ServedSettings {
  readonly first: FirstPerson | undefined;
  readonly url: string;
  readonly publicUrl: string | undefined;
  readonly model: string;
  readonly stateDir: string;
}

interface Teller {
  /** Whether only the person who started the server reads it. A log has more readers, and gets no way in. */
  readonly isPrivate: boolean;
  ready(served: ServedSettings): void;
  readonly notice: TellNotice;
  /** A danger in the settings. */
  warn(line: string): void;
  /** What the Worker writes; a person finds it in the log file. */
  output(text: string): void;
}

function tellPerson(): Teller {
  const warn = (line: string) => process.stderr.write(`${inOneLine(line)}\n`);
  return {
    isPrivate: true,
    ready: (served) => process.stdout.write(servedText(served)),
    notice: warn,
    warn,
    output: () => {},
  };
}

/** Every event is one line of stdout, in the form of the Worker's own log (worker/health/log.ts), which is there too. */
function tellLog(): Teller {
  const write = (entry: LogEntry) => process.stdout.write(formatLogLine(entry, new Date()));
  const notice: TellNotice = (message, event) => void write({ event, message });
  return {
    isPrivate: false,
    ready: ({ url, publicUrl, model }) => write({ event: 'ready', url, publicUrl, model }),
    notice,
    warn: (line) => notice(line, 'key_readable'),
    output: byLines((line) => process.stdout.write(`${line}\n`)),
  };
}

function servedText({ url, publicUrl, model, stateDir, first }: ServedSettings): string {
  const way = first
    ? `The first person gets into the account ${first.account} here, once, within two days:\n${first.link}\n\n`
    : '';
  return `
Drawbridge is ready. Ctrl-C ends it.

  API     ${url}${publicUrl ? `, for clients ${publicUrl}` : ''}
  Model   ${inOneLine(model)}
  State   ${inOneLine(stateDir)}
  People  ${ownCommand('invite', 'NAME', '--state', stateDir)}

${way}`;
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
