/** `up` without a state of its own: runs the shared server in this terminal, or joins the one that runs. */
import { bridgeEnvironment } from '../../local/bridge/environment.ts';
import { readSettings } from '../../local/config/settings.ts';
import { askServer, holdServer } from '../../local/daemon/control-client.ts';
import { type DaemonOptions, runDaemon } from '../../local/daemon/daemon.ts';
import type { Programs } from '../../local/instance.ts';
import { whenAborted } from '../../local/processes/beside.ts';
import type { StatePlace } from '../../local/state/folder.ts';
import { type Instance, isClaimed } from '../../local/state/running.ts';
import { openProjectState, openServerState, readUserToken } from '../../local/state/state.ts';
import { openFormat } from '../../local/state/upgrade.ts';
import { LocalError } from '../../machine/local-error.ts';
import { inOneLine } from '../../shared/text/plain-sight.ts';
import type { Confinement } from '../../shared/wire/tunnel.ts';
import { ownCommand } from '../terminal/own-command.ts';
import { daemonOptions } from './daemon.ts';
import { unusedNotices } from './join.ts';
import { findStarting } from './launch.ts';
import { type ModelNames, nameModel, readyLine, readyText } from './ready.ts';
import { readStartSettings } from './start-settings.ts';

export interface ForegroundOptions {
  readonly port?: number;
  readonly json: boolean;
  readonly bridge: boolean;
}

interface Here {
  readonly place: StatePlace;
  readonly programs: Programs;
}

/**
 * Runs until `signal` aborts, and rejects with its reason then. `isReady` is called when the folder is connected.
 * @throws {LocalError} if the server cannot start or go on, or the folder cannot be connected.
 */
export async function runShared(
  options: ForegroundOptions,
  here: Here,
  isReady: () => void,
  signal: AbortSignal,
): Promise<never> {
  const { serverDir } = here.place;
  let hasBegun = false;
  const begin = () => {
    hasBegun = true;
    isReady();
  };
  for (;;) {
    const instance = await findStarting(serverDir);
    if (instance) return await joinRunning(options, { ...here, instance }, begin, signal);
    try {
      return await runHere(options, here, begin, signal);
    } catch (error) {
      // Another server was quicker.
      if (hasBegun || signal.aborted || !isClaimed(serverDir)) throw error;
    }
  }
}

/** Runs the server in this process, with this folder connected as long as it runs. */
async function runHere(
  { port, bridge: withBridges, json }: ForegroundOptions,
  { place, programs }: Here,
  isReady: () => void,
  signal: AbortSignal,
): Promise<never> {
  const settings = await readStartSettings({ port, json }, tellNotice, signal);
  const { environment } = settings;
  const { workspaceDir } = place;
  const onReady: DaemonOptions['onReady'] = async ({ url, connect }) => {
    const request = { workspaceDir, environment, isHeld: true, asksAtTerminal: true };
    const bridge = withBridges ? (await connect(request)).bridge : undefined;
    const confinement = bridge?.state === 'connected' ? bridge.confinement : null;
    isReady();
    const model = nameModel(settings.model);
    await tellReady({ url, model, confinement, json, withBridges }, { place, programs });
  };
  const terminal = { sharesTerminal: true, onNotice: tellNotice, onReady, withBridges };
  return await runDaemon(
    { ...(await daemonOptions(place, programs, settings)), ...terminal },
    signal,
  );
}

/** Keeps this folder connected to a running server, until `signal` aborts or the server ends. */
async function joinRunning(
  { port, bridge: withBridges, json }: ForegroundOptions,
  { place, programs, instance }: Here & { readonly instance: Instance },
  isReady: () => void,
  signal: AbortSignal,
): Promise<never> {
  const { url, control = '' } = instance;
  if (port && `${port}` !== new URL(url).port) {
    const stop = ownCommand('stop');
    const text = `The server already runs at ${url}: leave --port out, or end it with \`${stop}\`.`;
    throw new LocalError('refused', text);
  }
  await openFormat(place.serverDir); // Refuses a server on an older state before it has this folder.
  const { server } = await askServer(control, { ask: 'status' }, 'status');
  const here = await readSettings(process.env, { port });
  for (const notice of unusedNotices(here, server)) tellNotice(notice);
  const told = { url, model: server.model, json, withBridges };
  if (!withBridges) {
    isReady();
    await tellReady({ ...told, confinement: null }, { place, programs });
    return await whenAborted(signal);
  }
  const { workspaceDir } = place;
  const environment = bridgeEnvironment(process.env, here.keyNames);
  const request = { ask: 'connect', workspaceDir, environment, isHeld: true } as const;
  const held = await holdServer(control, request, 'connected');
  const { bridge } = held.answer.project;
  try {
    isReady();
    const confinement = bridge.state === 'connected' ? bridge.confinement : null;
    await tellReady({ ...told, confinement }, { place, programs });
    await Promise.race([held.ended, whenAborted(signal)]);
  } finally {
    held.leave();
  }
  throw new LocalError('failed', 'The server that this folder was connected to has ended.');
}

interface ReadyServer {
  readonly url: string;
  readonly model: ModelNames;
  readonly confinement: Confinement | null;
  readonly json: boolean;
  readonly withBridges: boolean;
}

async function tellReady(
  { json, withBridges, ...running }: ReadyServer,
  { place, programs }: Here,
): Promise<void> {
  const server = await openServerState(place.serverDir);
  const token = await readUserToken(server, new Date());
  const project = withBridges ? await openProjectState(server, place.projectDir) : null;
  const { workspaceDir } = place;
  const ready = {
    ...running,
    token,
    bridgeId: project?.bridgeId ?? null,
    workspaceDir,
    stateDir: undefined,
    programs,
  };
  process.stdout.write(json ? readyLine(ready) : readyText(ready));
}

function tellNotice(line: string): void {
  process.stderr.write(`${inOneLine(line)}\n`);
}
