/** `drawbridge up`: runs the API and the bridge on this machine until Ctrl-C. `npm start` runs it. */
import { type Command, InvalidArgumentError } from 'commander';
import { bridgeEnvironment } from '../../local/bridge/environment.ts';
import { openServerSettings } from '../../local/config/settings.ts';
import { type InstanceOptions, type Programs, runInstance } from '../../local/instance.ts';
import { locateState } from '../../local/state/folder.ts';
import { openState, readUserToken } from '../../local/state/state.ts';
import { inOneLine } from '../../shared/text/plain-sight.ts';
import type { Confinement } from '../../shared/wire/tunnel.ts';
import { Interrupted } from '../config/choose-model.ts';
import { MOVE_HELP } from '../setup/connect.ts';
import {
  addLocationOptions,
  type LocationOptions,
  locationOf,
} from '../target/location-options.ts';
import { abortOnInterrupt } from '../terminal/ending.ts';
import { runShared } from './foreground.ts';
import { nameModel, readyLine, readyText } from './ready.ts';
import { settingsWithModel } from './start-settings.ts';

interface UpOptions extends LocationOptions {
  readonly port?: number;
  readonly json: boolean;
  readonly bridge: boolean;
  readonly move?: boolean;
}

const MAX_PORT = 65_535;
const INTERRUPTED = 130;

/** The help of `--port`. It has no default of its own: config.json may have one. */
export const PORT_HELP = 'the port of the API; 0 for any free port (default: 8787)';

export function registerUp(program: Command, programs: Programs): void {
  const command = program
    .command('up')
    .description('Run the API and the bridge on this machine, until Ctrl-C')
    .option('--port <number>', PORT_HELP, parsePort);
  addLocationOptions(command, 'here')
    .option('--json', 'print one line of JSON to stdout when ready, all else to stderr', false)
    .option('--move', `${MOVE_HELP} (with --state)`)
    .option('--no-bridge', 'run only the API: the agent cannot read files or run commands')
    .action((options: UpOptions) => up(options, programs, abortOnInterrupt()));
}

/** Runs until `signal` aborts. Throws if the instance cannot start or cannot go on. */
async function up(options: UpOptions, programs: Programs, signal: AbortSignal): Promise<void> {
  const place = await locateState(locationOf(options));
  if (place.kind === 'own') {
    return await runUntilInterrupted(() => prepare(options, programs, signal), signal);
  }
  const run = (isReady: () => void) => runShared(options, { place, programs }, isReady, signal);
  await untilInterrupted(run, signal);
}

async function prepare(
  options: UpOptions,
  programs: Programs,
  signal: AbortSignal,
): Promise<InstanceOptions> {
  const location = locationOf(options);
  const { workspaceDir } = await locateState(location);
  const settings = await settingsWithModel(options, signal);
  const { port, keyNames } = settings;
  const environment = bridgeEnvironment(process.env, keyNames);
  const onNotice = (line: string) => process.stderr.write(`${inOneLine(line)}\n`);
  const served = await openServerSettings(settings, onNotice, signal);
  const state = await openState(location);
  const onReady = async (running: { url: string; confinement: Confinement | null }) => {
    const model = nameModel(served.model);
    const token = await readUserToken(state, new Date());
    const bridgeId = options.bridge ? state.bridgeId : null;
    const stateDir = location.stateDir && state.dir;
    const ready = { ...running, token, bridgeId, model, workspaceDir, stateDir, programs };
    process.stdout.write(options.json ? readyLine(ready) : readyText(ready));
  };
  const { move: moves = false } = options;
  const bridge = options.bridge ? { project: state, workspaceDir, environment, moves } : null;
  return { programs, state, bridge, port, ...served, onReady, onNotice };
}

/** Runs until `signal` aborts, which is no failure; before the instance is ready the exit code says so. */
export async function runUntilInterrupted(
  prepareInstance: () => Promise<InstanceOptions>,
  signal: AbortSignal,
): Promise<void> {
  const run = async (isReady: () => void) => {
    const instance = await prepareInstance();
    const onReady: InstanceOptions['onReady'] = async (ready) => {
      isReady();
      await instance.onReady(ready);
    };
    return await runInstance({ ...instance, onReady }, signal);
  };
  await untilInterrupted(run, signal);
}

async function untilInterrupted(
  run: (isReady: () => void) => Promise<never>,
  signal: AbortSignal,
): Promise<void> {
  let isReady = false;
  try {
    await run(() => {
      isReady = true;
    });
  } catch (error) {
    const isInterrupted =
      error instanceof Interrupted || (signal.aborted && error === signal.reason);
    if (!isInterrupted) throw error;
    if (!isReady) process.exitCode = INTERRUPTED;
  }
}

/** For an option that takes a port. */
export function parsePort(text: string): number {
  const port = Number(text);
  if (/^\d+$/.test(text) && port <= MAX_PORT) return port;
  throw new InvalidArgumentError(`A port is a number from 0 to ${MAX_PORT}.`);
}
