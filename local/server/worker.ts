/** Claims a state, and runs the Worker on it. */

import { join } from 'node:path';
import { newDeferred } from '../../machine/deferred.ts';
import type { TellNotice } from '../../machine/log-line.ts';
import { beside, whenAborted } from '../processes/beside.ts';
import { type LogFile, openLogFile } from '../processes/log-file.ts';
import { requireFreePort, urlOf, waitUntilHealthy } from '../runtime/address.ts';
import { EXPORTER, placeExporter, placeWorker } from '../runtime/bundle.ts';
import { removeEmptyDatabases } from '../runtime/empty-databases.ts';
import { sweepHourly } from '../runtime/left-behind.ts';
import { placePage } from '../runtime/page.ts';
import { runWorker } from '../runtime/runtime.ts';
import { RUNS_OBJECT, wakeRuns } from '../runtime/wake.ts';
import { readWranglerConfig } from '../runtime/wrangler-config.ts';
import { type ModelSettings, modelVariables } from '../settings.ts';
import { type RestoredState, type SettledRestores, settleRestored } from '../state/restored.ts';
import { type Claim, claimState } from '../state/running.ts';
import { readMetricsToken, type ServerState } from '../state/state.ts';
import { watchState } from '../state/watch.ts';

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

export interface WorkerOptions {
  readonly programs: Programs;
  readonly state: ServerState;
  /** The address to listen on (default: this machine alone reaches it). */
  readonly host?: string;
  readonly port: number;
  /** Whether a proxy is in front, which says in X-Forwarded-Proto and X-Forwarded-For how and whence a client came. */
  readonly isBehindProxy?: boolean;
  readonly model: ModelSettings;
  /** Variables of the Worker other than its secret and its model (local/settings.ts). */
  readonly workerSettings: Readonly<Record<string, string>>;
  readonly onNotice: TellNotice;
  /** Gets what the Worker writes, as `workerd.log` does. */
  onOutput?(text: string): void;
}

/** Runs beside the Worker, from its first answer to the end. `announce` lets other programs find the server. */
export type Work = (
  worker: { readonly url: string; readonly announce: Claim['announce'] },
  signal: AbortSignal,
) => Promise<never>;

/**
 * Claims the state and runs the Worker on it until `signal` aborts, with `work` beside it. Rejects with the
 * signal's reason once every process is gone.
 * @throws {LocalError} if the Worker cannot start or cannot go on.
 */
export async function withWorker(
  options: WorkerOptions,
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
  options: WorkerOptions,
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
      // Work that fails by itself ends the sweep too, whose timer would keep the process alive.
      const sweeping = new AbortController();
      const ending = AbortSignal.any([running, sweeping.signal]);
      void sweepHourly({ url, state: options.state, log }, ending);
      return await work(url, running).finally(() => sweeping.abort());
    },
    signal,
  );
}

/** Runs the Worker. If the Worker keeps dying, shows the end of its log. */
async function runLoggedWorker(
  options: WorkerOptions,
  log: LogFile,
  onListening: (port: number) => void,
  signal: AbortSignal,
): Promise<void> {
  const { programs, state, host, port, model, onNotice } = options;
  const { settings, exporter } = separated(options.workerSettings);
  const moduleFile = 'worker.js';
  const pageDir = join(state.buildDir, 'page');
  await Promise.all([
    placeWorker(programs.workerEntry, join(state.buildDir, moduleFile)),
    placePage(programs.workerEntry, pageDir),
    exporter && placeExporter(programs.workerEntry, join(state.buildDir, EXPORTER)),
  ]);
  const wrangler = await readWranglerConfig(programs.wranglerConfig);
  const runtime = {
    wrangler: { ...wrangler, durableObjects: [...wrangler.durableObjects, RUNS_OBJECT] },
    buildDir: state.buildDir,
    moduleFile,
    storageDir: state.storageDir,
    pageDir,
    host,
    port,
    isBehindProxy: options.isBehindProxy,
    exporter: exporter && { moduleFile: EXPORTER, variables: exporter },
    variables: {
      ...settings,
      METRICS_TOKEN: await metricsTokens(state, settings),
      ...modelVariables(model),
      AUTH_SECRET: state.authSecret,
      ...(options.isBehindProxy && { TRUST_PROXY: '1' }),
      ...restoredVariables(await settleRestored(state.dir, new Date())),
    },
    log,
    beforeStart: () => void removeEmptyDatabases(state.storageDir),
    onListening: (listeningPort: number) => {
      onListening(listeningPort);
      void wakeRuns({ url: urlOf(listeningPort, host), state, log }, signal);
    },
    onRestart: newRestartTeller(onNotice),
  };
  try {
    await runWorker(runtime, signal);
  } catch (error) {
    for (const line of new Set(log.tail())) onNotice(`workerd: ${line}`, 'worker_failed');
    throw error;
  }
}

/** See worker/storage/restored.ts. */
function restoredVariables({ whole, files }: SettledRestores): Readonly<Record<string, string>> {
  const of = ({ restoredMs, firstPosition }: RestoredState) => {
    return { RESTORED_AT: String(restoredMs), FIRST_POSITION: String(firstPosition) };
  };
  const single = Object.entries(files).map(([object, file]) => [object, of(file)] as const);
  return {
    ...(whole && of(whole)),
    ...(single.length > 0 && { RESTORED_FILES: JSON.stringify(Object.fromEntries(single)) }),
  };
}

/** Apart from the settings of the Worker, which never sees the key of the place that spans go to. */
function separated({
  OTEL_EXPORTER_OTLP_ENDPOINT: endpoint,
  OTEL_EXPORTER_OTLP_HEADERS: headers,
  ...settings
}: WorkerOptions['workerSettings']) {
  if (endpoint === undefined) return { settings };
  const exporter: Readonly<Record<string, string>> = {
    OTEL_EXPORTER_OTLP_ENDPOINT: endpoint,
    ...(headers !== undefined && { OTEL_EXPORTER_OTLP_HEADERS: headers }),
  };
  return { settings, exporter };
}

/** Always with the token of the state, which `drawbridge token` prints in any terminal. */
async function metricsTokens(
  state: ServerState,
  { METRICS_TOKEN: operators }: WorkerOptions['workerSettings'],
): Promise<string> {
  const own = await readMetricsToken(state);
  return operators === undefined ? own : `${own} ${operators}`;
}

/** Reports a death only if it differs from the one before. */
function newRestartTeller(onNotice: TellNotice): (death: string) => void {
  let last = '';
  return (death) => {
    const line = `The Worker died (${death}) and is being restarted.`;
    if (death !== last) onNotice(line, 'worker_restarted');
    last = death;
  };
}
