/** `drawbridge up`: the server in this terminal until Ctrl-C, or this folder on the one that runs. */
import type { Command } from 'commander';
import { bridgeEnvironment } from '../../local/bridge/environment.ts';
import { readSettings } from '../../local/config/settings.ts';
import { whenAborted } from '../../local/processes/beside.ts';
import type { ProjectReport } from '../../local/server/control.ts';
import { askServer, holdServer } from '../../local/server/control-client.ts';
import type { ServerOptions } from '../../local/server/server.ts';
import type { Programs } from '../../local/server/worker.ts';
import { locateState, type StatePlace } from '../../local/state/folder.ts';
import { type Instance, isClaimed } from '../../local/state/running.ts';
import { openProjectState, openServerState, readUserToken } from '../../local/state/state.ts';
import { openFormat } from '../../local/state/upgrade.ts';
import { LocalError } from '../../machine/local-error.ts';
import { inOneLine } from '../../shared/text/plain-sight.ts';
import type { ReportedConfinement } from '../../shared/wire/tunnel.ts';
import { MOVE_HELP } from '../setup/connect/connect.ts';
import {
  addLocationOptions,
  type LocationOptions,
  locationOf,
  locationWordsOf,
} from '../target/location-options.ts';
import { abortOnInterrupt } from '../terminal/ending.ts';
import { ownCommand } from '../terminal/own-command.ts';
import { printErr } from '../terminal/print.ts';
import { openTerminal } from '../terminal/terminal.ts';
import { unusedNotices } from './join.ts';
import { findStarting } from './launch.ts';
import { NO_BROWSER, showFirstPage } from './page-link.ts';
import { PORT_HELP, parsePort } from './port.ts';
import { nameModel, type Ready, readyLine, readyText } from './ready.ts';
import { runHere, untilInterrupted } from './run.ts';
import { readStartSettings } from './start-settings.ts';

interface UpOptions extends LocationOptions {
  readonly port?: number;
  readonly json: boolean;
  readonly bridge: boolean;
  readonly browser: boolean;
  readonly move?: boolean;
}

/** Where `up` runs, with which programs, and what it calls once it is ready. */
interface Here {
  readonly place: StatePlace;
  readonly programs: Programs;
  isReady(): void;
}

export function registerUp(program: Command, programs: Programs): void {
  const command = program
    .command('up')
    .description('Run the API and the bridge on this machine, until Ctrl-C')
    .option('--port <number>', PORT_HELP, parsePort);
  addLocationOptions(command, 'here')
    .option('--json', 'print one line of JSON to stdout when ready, all else to stderr', false)
    .option('--move', `${MOVE_HELP} (with --state)`)
    .option('--no-bridge', 'run only the API: the agent cannot read files or run commands')
    .option(...NO_BROWSER)
    .action(async (options: UpOptions) => {
      const signal = abortOnInterrupt();
      const place = await locateState(locationOf(options));
      await untilInterrupted(
        (isReady) => up(options, { place, programs, isReady }, signal),
        signal,
      );
    });
}

/** Runs until `signal` aborts; rejects with its reason. @throws {LocalError} if it cannot start or go on. */
async function up(options: UpOptions, here: Here, signal: AbortSignal): Promise<never> {
  const { serverDir } = here.place;
  let hasBegun = false;
  const isReady = () => {
    hasBegun = true;
    here.isReady();
  };
  for (;;) {
    const instance = await findStarting(serverDir);
    if (instance) return await joinRunning(options, instance, { ...here, isReady }, signal);
    try {
      return await runInTerminal(options, { ...here, isReady }, signal);
    } catch (error) {
      // Another server was quicker.
      if (hasBegun || signal.aborted || !isClaimed(serverDir)) throw error;
    }
  }
}

/** Runs the server, with this folder connected as long as it runs. */
async function runInTerminal(options: UpOptions, here: Here, signal: AbortSignal): Promise<never> {
  const { bridge: withBridges, move: moves } = options;
  const settings = await readStartSettings(options, tellNotice, signal);
  const onReady: ServerOptions['onReady'] = async ({ url, connect }) => {
    const { environment } = settings;
    const { workspaceDir } = here.place;
    const request = { workspaceDir, environment, isHeld: true, asksAtTerminal: true, moves };
    const project = withBridges ? await connect(request) : undefined;
    const model = nameModel(settings.model);
    await tellReady(options, { url, model, confinement: confinementOf(project) }, here, signal);
  };
  const terminal = { sharesTerminal: true, onNotice: tellNotice, onReady, withBridges };
  const { place, programs } = here;
  return await runHere({ place, programs, settings, ...terminal }, signal);
}

/** Keeps this folder connected to a running server, until `signal` aborts or the server ends. */
async function joinRunning(
  options: UpOptions,
  { url, control }: Instance,
  here: Here,
  signal: AbortSignal,
): Promise<never> {
  const { port, bridge: withBridges, move: moves } = options;
  const { workspaceDir, serverDir } = here.place;
  if (port && `${port}` !== new URL(url).port) {
    const stop = ownCommand('stop', ...locationWordsOf(options));
    const text = `The server already runs at ${url}: leave --port out, or stop it with \`${stop}\`.`;
    throw new LocalError('refused', text);
  }
  await openFormat(serverDir); // Refuses a server on an older state before it has this folder.
  const { server } = await askServer(control, { ask: 'status' }, 'status');
  const settings = await readSettings(process.env, { port });
  for (const notice of unusedNotices(settings, server)) tellNotice(notice);
  const running = { url, model: server.model };
  if (!withBridges) {
    await tellReady(options, { ...running, confinement: null }, here, signal);
    return await whenAborted(signal);
  }
  const environment = bridgeEnvironment(process.env, settings.keyNames);
  const request = { ask: 'connect', workspaceDir, environment, isHeld: true, moves } as const;
  const held = await holdServer(control, request, 'connected');
  try {
    const confinement = confinementOf(held.answer.project);
    await tellReady(options, { ...running, confinement }, here, signal);
    await Promise.race([held.ended, whenAborted(signal)]);
  } finally {
    held.leave();
  }
  throw new LocalError('failed', 'The server that this folder was connected to stopped.');
}

function confinementOf(project: ProjectReport | undefined): ReportedConfinement | null {
  return project?.bridge.state === 'connected' ? project.bridge.confinement : null;
}

async function tellReady(
  options: UpOptions,
  running: Pick<Ready, 'url' | 'model' | 'confinement'>,
  { place, isReady }: Here,
  signal: AbortSignal,
): Promise<void> {
  const { json, bridge: withBridge, browser } = options;
  isReady();
  const { workspaceDir, serverDir, projectDir } = place;
  const terminal = openTerminal(process, process.env, { machine: json });
  const server = await openServerState(serverDir);
  const token = await readUserToken(server, new Date());
  const bridgeId = withBridge ? (await openProjectState(server, projectDir)).bridgeId : null;
  const ready = {
    ...running,
    workspaceDir,
    locationWords: locationWordsOf(options),
    token,
    bridgeId,
  };
  terminal.writeOut(json ? readyLine(ready) : readyText(ready, terminal.columns));
  if (withBridge && browser) void showFirstPage({ url: running.url, place }, terminal, signal);
}

function tellNotice(line: string): void {
  printErr(`${inOneLine(line)}\n`);
}
