/** A server on this machine: the Worker, the bridges of the connected folders, and the control socket. */
import { join } from 'node:path';
import { LocalError } from '../../machine/local-error.ts';
import type { TellNotice } from '../../machine/log-line.ts';
import { inOneLine } from '../../shared/text/plain-sight.ts';
import { BridgeHost } from '../bridge/host.ts';
import { LOCAL_LIMITS } from '../limits.ts';
import { OWN_VERSION } from '../own-root.ts';
import { whenAborted } from '../processes/beside.ts';
import { byLines, openEventLog } from '../processes/log-file.ts';
import { releaseMemorySoon } from '../processes/memory.ts';
import type { StatePlace } from '../state/folder.ts';
import {
  type ControlAnswer,
  type ControlRequest,
  digestsOf,
  type ProjectReport,
  type ServerReport,
} from './control.ts';
import { openControl } from './control-server.ts';
import { type ConnectRequest, Projects } from './projects.ts';
import { type Work, type WorkerOptions, withWorker } from './worker.ts';

export interface ServerOptions extends WorkerOptions {
  readonly kind: StatePlace['kind'];
  readonly modelNames: ServerReport['model'];
  /** Of the bridges that come back with the server (local/bridge/environment.ts). */
  readonly environment: Readonly<Record<string, string>>;
  readonly keyNames: readonly string[];
  /** Whether a bridge may ask at this process's terminal. */
  readonly sharesTerminal: boolean;
  /** False for the API alone. */
  readonly withBridges: boolean;
  /** Called when folders can be connected. */
  onReady(server: RunningServer): Promise<void>;
}

/** What the process that runs the server can do with it, beside the control socket. */
export interface RunningServer {
  readonly url: string;
  connect(request: ConnectRequest): Promise<ProjectReport>;
}

/** Runs the server until `signal` aborts; rejects once every process is gone. @throws {LocalError} if it cannot. */
export async function runServer(options: ServerOptions, signal: AbortSignal): Promise<never> {
  const notices: ServerReport['notices'] = [];
  const note = openEventLog(join(options.state.logsDir, 'server.log'));
  const onNotice: TellNotice = (line, event) => {
    note({ event, message: line });
    notices.splice(0, notices.length + 1 - LOCAL_LIMITS.maxNotices);
    notices.push({ time: new Date().toISOString(), text: inOneLine(line) });
    options.onNotice(line, event);
  };
  const host = new BridgeHost({
    command: options.programs.drawbridge,
    environment: options.environment,
    sharesTerminal: options.sharesTerminal,
    onOutput: byLines((message) => note({ event: 'bridge_host_output', message })),
    onRestart: (death) =>
      onNotice(
        `The bridges' process died (${death}) and is being restarted.`,
        'bridge_host_restarted',
      ),
  });
  const started = new Date().toISOString();
  const work: Work = async ({ url, announce }, running) => {
    const projects = new Projects({ ...options, url, host, onNotice });
    const { DELETE_AFTER_HOURS: hours } = options.workerSettings;
    const report = (): ServerReport => ({
      version: OWN_VERSION,
      pid: process.pid,
      url,
      model: options.modelNames,
      ...(hours && { deleteAfterHours: Number(hours) }),
      started,
      projects: projects.reports,
      notices,
      settings: digestsOf(options.workerSettings),
    });
    const { withBridges } = options;
    using control = await openControl(options.state.dir, async (request, closed) =>
      answer(request, { projects, report, withBridges }, closed),
    );
    try {
      if (withBridges) await projects.restore(options.environment);
      await announce({ url, control: control.path });
      note({ event: 'server_started', url });
      releaseMemorySoon();
      const ready = options.onReady({ url, connect: (request) => projects.connect(request) });
      const aborted = whenAborted(running);
      // The first connection may take long.
      await Promise.race([ready, aborted]);
      return await aborted;
    } finally {
      // Before the state is given back: the next server must find no bridge of this one. At once, as the process of the
      // bridges has a limit of time for its end, and a bridge has none.
      await Promise.all([projects.end(), host.end()]);
      note({ event: 'server_ended' });
    }
  };
  // Both take their time: the process starts while the Worker does.
  if (options.withBridges) host.prepare();
  try {
    return await withWorker({ ...options, onNotice }, work, signal);
  } finally {
    // Also where the server could not start.
    await host.end();
  }
}

interface RunningParts {
  readonly projects: Projects;
  readonly report: () => ServerReport;
  readonly withBridges: boolean;
}

/** Never rejects. */
async function answer(
  request: ControlRequest,
  running: RunningParts,
  closed: AbortSignal,
): Promise<ControlAnswer> {
  try {
    return await carryOut(request, running, closed);
  } catch (error) {
    const { kind, message } =
      error instanceof LocalError ? error : { kind: 'failed' as const, message: String(error) };
    return { answer: 'error', kind, message };
  }
}

async function carryOut(
  request: ControlRequest,
  { projects, report, withBridges }: RunningParts,
  closed: AbortSignal,
): Promise<ControlAnswer> {
  switch (request.ask) {
    case 'status':
      return { answer: 'status', server: report() };
    case 'connect': {
      if (!withBridges) throw new LocalError('refused', NO_BRIDGES);
      const wanted = { ...request, asksAtTerminal: false };
      const project = await projects.connect(wanted);
      const release = () => void projects.release(project.workspaceDir, wanted);
      if (request.isHeld && closed.aborted) release();
      else if (request.isHeld) closed.addEventListener('abort', release, { once: true });
      return { answer: 'connected', project };
    }
    case 'disconnect':
      return {
        answer: 'disconnected',
        wasConnected: await projects.disconnect(request.workspaceDir),
      };
  }
}

const NO_BRIDGES =
  'The running server is an API alone (`serve`, or `up --no-bridge`) and takes no folder: stop it, and start it with a bridge.';
