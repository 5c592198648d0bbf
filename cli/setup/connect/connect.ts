/** `drawbridge connect`: runs a bridge on this machine for a Drawbridge elsewhere. */

import type { Command } from 'commander';
import { decodeJwt } from 'jose';
import type { BridgeConfig } from '../../../bridge/config.ts';
import { limitOwnEnvironment } from '../../../local/bridge/environment.ts';
import { ownersOf, readSettings } from '../../../local/config/settings.ts';
import { beside } from '../../../local/processes/beside.ts';
import { signerOf } from '../../../local/state/device.ts';
import { bridgeLogOf } from '../../../local/state/folder.ts';
import { noteRemote } from '../../../local/state/logins.ts';
import { openState } from '../../../local/state/state.ts';
import { nearEndOf } from '../../../local/state/tokens.ts';
import { watchState } from '../../../local/state/watch.ts';
import { resolveWorkspace } from '../../../local/state/workspace.ts';
import type { BridgeStatus } from '../../../machine/bridge-status.ts';
import { configFolder } from '../../../machine/config-folder.ts';
import { lookEvery } from '../../../machine/keep-alive.ts';
import { logTo } from '../../../machine/log.ts';
import type { TellNotice } from '../../../machine/log-line.ts';
import { BridgeId } from '../../../shared/ids.ts';
import { inOneLine } from '../../../shared/text/plain-sight.ts';
import { CLI_LIMITS } from '../../limits.ts';
import {
  addLocationOptions,
  type LocationOptions,
  locationOf,
} from '../../target/location-options.ts';
import { allowMove, findSignedIn } from '../../target/signed-in.ts';
import { tokenAt } from '../../target/token-file.ts';
import { abortOnInterrupt } from '../../terminal/ending.ts';
import { EXIT } from '../../terminal/exit-codes.ts';
import { describeFailure } from '../../terminal/failure-text.ts';
import { ownCommand } from '../../terminal/own-command.ts';
import { printErr } from '../../terminal/print.ts';
import { UsageError } from '../../terminal/usage-error.ts';
import { openBridgeLog } from './bridge-log.ts';
import { type RunBridge, runOwnBridge } from './run-own-bridge.ts';

interface ConnectCommandOptions extends LocationOptions {
  readonly tokenFile?: string;
  readonly bridgeId?: string;
  readonly move?: boolean;
}

/** The help of `--move`. */
export const MOVE_HELP =
  'continue the conversations of the folder that was connected before in this one';

/** `runBridge` is a parameter because tests pass their own bridge. */
export function registerConnect(program: Command, runBridge: RunBridge = runOwnBridge): void {
  const command = program
    .command('connect')
    .description('Connect a folder of this machine to the Drawbridge at a URL, until Ctrl-C')
    .argument('<url>', 'the URL of the Drawbridge')
    .option('--token-file <file>', 'file with the token (default: DRAWBRIDGE_TOKEN, or your login)')
    .option(
      '--bridge-id <id>',
      'the id of this bridge (default: the one in the token, or of the folder)',
    )
    .option('--move', MOVE_HELP);
  addLocationOptions(command, 'here').action(
    async (url: string, options: ConnectCommandOptions) => {
      const settings = await readSettings();
      const configDir = configFolder(process.env);
      const config = { ...(await configOf(url, options)), configDir, ...ownersOf(settings) };
      limitOwnEnvironment(settings.keyNames);
      await connect(config, runBridge, abortOnInterrupt());
    },
  );
}

async function connect(
  { logFile, readToken, tokenFile, ...config }: ConnectConfig,
  runBridge: RunBridge,
  signal: AbortSignal,
): Promise<void> {
  const { env: environment } = process;
  const { bridgeId, stateDir } = config;
  const { write, noteStatus } = openBridgeLog({ logFile, bridgeId, isAtTerminal: true });
  const tellStatus = newStatusTeller();
  const onStatus: BridgeConfig['onStatus'] = (status) => {
    noteStatus(status);
    tellStatus(status);
  };
  const onNotice: TellNotice = (line, event) => {
    write({ event, message: line }, null);
    printErr(`${inOneLine(line)}\n`);
  };
  try {
    await logTo(write, () =>
      beside(
        async (ending) => {
          const token = readToken && watchToken(readToken, tokenFile, onNotice, ending);
          await Promise.all([watchState(stateDir, onNotice, ending), token]);
        },
        (running) => runBridge({ ...config, environment, onStatus }, running),
        signal,
      ),
    );
  } catch (error) {
    onStatus({ event: 'failed', message: describeFailure(error) });
  }
}

/** Shows a person each change, and sets the exit code when the bridge ends by itself. */
function newStatusTeller(): (status: BridgeStatus) => void {
  let isAway = false;
  return (status) => {
    if (status.event === 'index') return; // `codebase_search` answers from the files meanwhile.
    if (status.event === 'refused' || status.event === 'failed') process.exitCode = EXIT.failure;
    const back = isAway && status.event === 'connected' ? 'The bridge is back. ' : '';
    isAway = status.event === 'disconnected';
    printErr(`${inOneLine(`${back}${describe(status)}`)}\n`);
  };
}

function describe(status: Exclude<BridgeStatus, { event: 'index' }>): string {
  switch (status.event) {
    case 'connected':
      return `Connected. Sandbox: ${status.confinement.kind}. ${status.confinement.detail}`;
    case 'disconnected':
      return `The connection was lost (${status.reason}); trying again.`;
    case 'refused':
    case 'failed':
      return `drawbridge: ${status.message}`;
  }
}

interface ConnectConfig extends Omit<BridgeConfig, 'environment' | 'onStatus'> {
  readonly logFile: string;
  readonly tokenFile: string | undefined;
  /** The token that the person has given, as it is now. Undefined for a session, whose tokens renew themselves. */
  readonly readToken: (() => string) | undefined;
}

/** Until `signal` aborts, warns once of each token that ends soon. */
async function watchToken(
  readToken: () => string,
  tokenFile: string | undefined,
  onNotice: TellNotice,
  signal: AbortSignal,
): Promise<void> {
  let warnedOf: string | undefined;
  const look = () => {
    const token = readToken();
    const end = nearEndOf(token, new Date());
    if (end === undefined || token === warnedOf) return;
    const todo = tokenFile ? `write a new one into ${tokenFile}` : 'connect again with a new one';
    onNotice(`The bridge's token ends at ${end}: ${todo} before that.`, 'token_ending');
    warnedOf = token;
  };
  await lookEvery(CLI_LIMITS.tokenLookMs, look, signal);
}

async function configOf(url: string, options: ConnectCommandOptions): Promise<ConnectConfig> {
  if (!/^https?:\/\//i.test(url) || !URL.canParse(url)) {
    throw new UsageError(
      `The URL must begin with http:// or https://, such as http://127.0.0.1:8787, not ${url}`,
    );
  }
  const location = locationOf(options);
  const workspaceDir = await resolveWorkspace(location.workspaceDir);
  const given = tokenAt(options);
  const named = given === undefined ? namedBridge(options) : bridgeIdOf(given, options);
  if (given === undefined) await requireLogin(url, options);
  const state = await openState(location);
  const bridgeId = named ?? state.bridgeId;
  const session = given === undefined ? await findSignedIn(url, options, bridgeId) : undefined;
  noteRemote(state.projectDir, given === undefined ? url : undefined);
  const place = { workspaceDir, stateDir: state.projectDir };
  const logFile = bridgeLogOf(state.logsDir, workspaceDir);
  const readToken = given === undefined ? undefined : readerOf(given, options);
  const machineKey = await signerOf(state.device);
  const machine = { machineId: state.device.deviceId, machineDir: state.dir, machineKey };
  const token = readToken ?? session?.token ?? '';
  const { headers } = session ?? {};
  const bridge = { url, token, headers, bridgeId, ...machine, moves: options.move };
  if (options.move) await allowMove(url, options, bridgeId, machineKey);
  return {
    ...bridge,
    ...place,
    logFile,
    asksAtTerminal: true,
    readToken,
    tokenFile: options.tokenFile,
  };
}

/** @throws {UsageError} if `--bridge-id` is no id of a bridge. */
function namedBridge({ bridgeId }: ConnectCommandOptions): string | undefined {
  if (bridgeId === undefined || BridgeId.safeParse(bridgeId).success) return bridgeId;
  throw new UsageError('--bridge-id takes an id like bridge_… with a UUID.');
}

/** @throws {UsageError} if there is neither a token nor a session of this machine. */
async function requireLogin(url: string, options: ConnectCommandOptions): Promise<void> {
  if (await findSignedIn(url, options)) return;
  throw new UsageError(
    `This machine is not signed in at ${url}: run \`${ownCommand('login', url)}\`, set DRAWBRIDGE_TOKEN, or give --token-file.`,
  );
}

/** What the place of the token holds now; `first` while it cannot be read, such as in the middle of being replaced. */
function readerOf(first: string, options: ConnectCommandOptions): () => string {
  return () => {
    try {
      return tokenAt(options) ?? first;
    } catch {
      return first;
    }
  };
}

/** Does not check the token's signature: only the server can, and it refuses a wrong id. */
function bridgeIdOf(token: string, options: ConnectCommandOptions): string {
  const { success, data } = BridgeId.safeParse(options.bridgeId ?? bridgeClaimOf(token));
  if (success) return data;
  throw new UsageError(
    'The token names no bridge: use a token of scope bridge, or give --bridge-id.',
  );
}

function bridgeClaimOf(token: string): unknown {
  try {
    return decodeJwt<{ bridge?: unknown }>(token).bridge;
  } catch (cause) {
    throw new UsageError('The bridge token is not a JWT.', { cause });
  }
}
