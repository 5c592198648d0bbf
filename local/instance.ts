/** Runs an instance on this machine: the Worker and the bridge. */

import { join } from 'node:path';
import type { BridgeStatus } from '../machine/bridge-status.ts';
import { newDeferred } from '../machine/deferred.ts';
import { LocalError } from '../machine/local-error.ts';
import type { LogEvent, TellNotice } from '../machine/log-line.ts';
import type { Confinement } from '../shared/wire/tunnel.ts';
import { runBridgeProcess } from './bridge/process.ts';
import { LOCAL_LIMITS } from './limits.ts';
import { beside, whenAborted } from './processes/beside.ts';
import { type LogFile, openLogFile, openServerLog } from './processes/log-file.ts';
import { requireFreePort, urlOf, waitUntilHealthy } from './runtime/address.ts';
import { placeWorker } from './runtime/bundle.ts';
import { runWorker } from './runtime/runtime.ts';
import { readAlarms, wakeConversations } from './runtime/wake.ts';
import { readWranglerConfig } from './runtime/wrangler-config.ts';
import { type ModelSettings, modelVariables } from './settings.ts';
import { settleRestored } from './state/restored.ts';
import { type Claim, claimState } from './state/running.ts';
import { type ProjectState, readMetricsToken, type ServerState } from './state/state.ts';
import { watchState } from './state/watch.ts';

/** Where the programs of an instance are. */
export interface Programs {
  /** The entry among the Worker's sources, or the module that the package brings: see `placeWorker`. */
  readonly workerEntry: string;
  readonly wranglerConfig: string;
  /** The program that runs `drawbridge`, and its first arguments. */
  readonly drawbridge: readonly [string, ...string[]];
  /** The same for the server in the background, where it differs: tests replace the bridge alone. */
  readonly daemon?: readonly [string, ...string[]];
}

/** The bridge that an instance runs beside the Worker. */
export interface InstanceBridge {
  readonly project: ProjectState;
  readonly workspaceDir: string;
  /** Whether the conversations of another folder go on in this one. */
  readonly moves?: boolean;
  /** See local/bridge/environment.ts. */
  readonly environment: Readonly<Record<string, string>>;
}

export interface ServerOptions {
  readonly programs: Programs;
  readonly state: ServerState;
  /** The address to listen on (default: this machine alone reaches it). */
  readonly host?: string;
  readonly port: number;
  /** Whether a proxy is in front, which says in X-Forwarded-Proto how a client came. */
  readonly isBehindProxy?: boolean;
  readonly model: ModelSettings;
  /** Variables of the Worker other than its secret and its model (local/settings.ts). */
  readonly workerSettings: Readonly<Record<string, string>>;
  readonly onNotice: TellNotice;
  /** Gets what the Worker writes, as `workerd.log` does. */
  onOutput?(text: string): void;
}

export interface InstanceOptions extends ServerOptions {
  /** Null for the API alone. */
  readonly bridge: InstanceBridge | null;
  /** Called when the Worker answers and the bridge is connected. `confinement` is null without a bridge. */
  onReady(ready: { url: string; confinement: Confinement | null }): Promise<void>;
}

/**
 * Runs an instance until `signal` aborts. Rejects with the signal's reason once every process is gone.
 * @throws {LocalError} if the instance cannot start or cannot go on.
 */
export async function runInstance(options: InstanceOptions, signal: AbortSignal): Promise<never> {
  const { note, onNotice } = openServerLog(options.state.logsDir, options.onNotice);
  const logged = { ...options, onNotice };
  const work: Work = async ({ url, announce }, running) => {
    await announce({ url });
    note({ event: 'server_started', url });
    try {
      return await serve(logged, url, running);
    } finally {
      note({ event: 'server_ended' });
    }
  };
  return await runServer(logged, work, signal);
}

/** Runs beside the Worker, from its first answer to the end. `announce` lets other programs find the server. */
type Work = (
  server: { readonly url: string; readonly announce: Claim['announce'] },
  signal: AbortSignal,
) => Promise<never>;

/** Claims the state and runs the Worker on it, with `work` beside it. Ends as {@link runInstance}. */
export async function runServer(
  options: ServerOptions,
  work: Work,
  signal: AbortSignal,
): Promise<never> {
  const claim = await claimState(options.state);
  try {
    return await beside(
      (ending) => watchState(options.state.dir, options.onNotice, ending),
      (running) => runClaimed(options, (url, ending) => work({ ...claim, url }, ending), running),
      signal,
    );
  } finally {
    await claim.release();
  }
}

async function runClaimed(
  options: ServerOptions,
  work: (url: string, signal: AbortSignal) => Promise<never>,
  signal: AbortSignal,
): Promise<never> {
  const { host, onOutput } = options;
  const log = openLogFile(join(options.state.logsDir, 'workerd.log'), onOutput);
  const listening = newDeferred<number>();
  await requireFreePort(options.port, host);
  return await beside(
    (ending) => runLoggedWorker(options, log, listening.resolve, ending),
    async (running) => {
      const port = await Promise.race([listening.promise, whenAborted(running)]);
      const url = urlOf(port, host);
      await waitUntilHealthy(url, running);
      return await work(url, running);
    },
    signal,
  );
}

/** Runs the Worker. If the Worker keeps dying, shows the end of its log. */
async function runLoggedWorker(
  options: ServerOptions,
  log: LogFile,
  onListening: (port: number) => void,
  signal: AbortSignal,
): Promise<void> {
  const { programs, state, host, port, model, workerSettings, onNotice } = options;
  const moduleFile = 'worker.js';
  await placeWorker(programs.workerEntry, join(state.buildDir, moduleFile));
  const restored = await settleRestored(state.dir, new Date());
  let alarms: readonly string[] = [];
  const runtime = {
    wrangler: await readWranglerConfig(programs.wranglerConfig),
    buildDir: state.buildDir,
    moduleFile,
    storageDir: state.storageDir,
    host,
    port,
    isBehindProxy: options.isBehindProxy,
    variables: {
      ...workerSettings,
      METRICS_TOKEN: await metricsTokens(state, workerSettings),
      ...modelVariables(model),
      AUTH_SECRET: state.authSecret,
      ...(restored && {
        RESTORED_AT: String(restored.restoredMs),
        FIRST_POSITION: String(restored.firstPosition),
      }),
    },
    log,
    beforeStart: () => {
      alarms = readAlarms({ state, log });
    },
    onListening: (listeningPort: number) => {
      onListening(listeningPort);
      void wakeConversations({ url: urlOf(listeningPort, host), state, log, alarms }, signal);
    },
    onRestart: createRestartTeller('The Worker', 'worker_restarted', onNotice),
  };
  try {
    await runWorker(runtime, signal);
  } catch (error) {
    for (const line of new Set(log.tail())) onNotice(`workerd: ${line}`, 'worker_failed');
    throw error;
  }
}

/** Always with the token of the state, which `drawbridge token` prints in any terminal. */
async function metricsTokens(
  state: ServerState,
  { METRICS_TOKEN: operators }: ServerOptions['workerSettings'],
): Promise<string> {
  const own = await readMetricsToken(state);
  return operators === undefined ? own : `${own} ${operators}`;
}

/** Runs when the Worker answers: starts the bridge, if there is one, and reports that the instance is ready. */
async function serve(options: InstanceOptions, url: string, signal: AbortSignal): Promise<never> {
  const { bridge } = options;
  if (!bridge) {
    await options.onReady({ url, confinement: null });
    return await whenAborted(signal);
  }
  const connected = newDeferred<Confinement>();
  let isAway = false;
  const onStatus = (status: BridgeStatus) => {
    if (status.event === 'connected') {
      connected.resolve(status.confinement);
      if (isAway) options.onNotice('The bridge is back.', 'bridge_returned');
      isAway = false;
    }
    if (status.event === 'disconnected') {
      isAway = true;
      const line = `The bridge lost its connection (${status.reason}) and is reconnecting.`;
      options.onNotice(line, 'bridge_lost');
    }
  };
  return await beside(
    (ending) => runBridge(bridge, options, { url, onStatus }, ending),
    async (running) => {
      const confinement = await withinReadyTime(connected.promise, running);
      await options.onReady({ url, confinement });
      return await whenAborted(running);
    },
    signal,
  );
}

async function runBridge(
  { project, ...bridge }: InstanceBridge,
  { programs, state, onNotice }: InstanceOptions,
  reached: { readonly url: string; onStatus(status: BridgeStatus): void },
  signal: AbortSignal,
): Promise<void> {
  const onRestart = createRestartTeller('The bridge', 'bridge_restarted', onNotice);
  const command = programs.drawbridge;
  const whole = { ...bridge, ...reached, state: { ...state, ...project }, command, onRestart };
  await runBridgeProcess(whole, signal);
}

/** Reports a death only if it differs from the one before. */
function createRestartTeller(name: string, event: LogEvent, onNotice: TellNotice) {
  let told = '';
  return (death: string) => {
    if (death !== told) onNotice(`${name} died (${death}) and is being restarted.`, event);
    told = death;
  };
}

async function withinReadyTime<Value>(
  promise: Promise<Value>,
  signal: AbortSignal,
): Promise<Value> {
  const deadline = AbortSignal.timeout(LOCAL_LIMITS.bridgeReadyMs);
  const late = whenAborted(deadline).catch((cause: unknown) => {
    throw new LocalError('failed', 'The bridge was started, but did not connect to the Worker.', {
      cause,
    });
  });
  return await Promise.race([promise, late, whenAborted(signal)]);
}
