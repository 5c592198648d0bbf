/** `drawbridge bridge-host`: runs the bridges of a server's projects. The server starts it (local/bridge/host.ts). */
import type { Command } from 'commander';
import { logTo } from '../../bridge/log.ts';
import type { BridgeConfig } from '../../bridge/run.ts';
import { readSettings } from '../../local/config/settings.ts';
import { beside } from '../../local/processes/beside.ts';
import { openLogFile } from '../../local/processes/log-file.ts';
import { watchState } from '../../local/state/watch.ts';
import { type HostedBridge, type HostNews, HostOrder } from '../../machine/bridge-host.ts';
import type { BridgeStatus } from '../../machine/bridge-status.ts';
import { LocalError } from '../../machine/local-error.ts';
import { formatLogLine, type LogEntry } from '../../machine/log-line.ts';
import { releaseMemoryOfStart } from '../../machine/memory.ts';
import { inOneLine } from '../../shared/plain-sight.ts';
import type { RunBridge } from '../setup/connect.ts';
import { endWithParent } from '../setup/connect-owner.ts';
import { describeFailure } from '../terminal/failure-text.ts';

/** `runBridge` is a parameter because tests pass their own bridge. */
export function registerBridgeHost(program: Command, runBridge: RunBridge = runOwnBridge): void {
  program.command('bridge-host', { hidden: true }).action(async () => {
    if (!process.send) throw new LocalError('refused', 'The server starts this command itself.');
    const signal = endWithParent();
    if (runBridge === runOwnBridge) void import('../../bridge/run.ts');
    await hostBridges(runBridge, signal);
  });
}

/** Runs the bridges that are ordered until `signal` aborts and all of them have ended. */
async function hostBridges(runBridge: RunBridge, signal: AbortSignal): Promise<void> {
  const running = new Map<string, { ending: AbortController; ended: Promise<void> }>();
  const take = (message: unknown) => {
    const given = HostOrder.parse(message);
    if (given.order === 'end') return running.get(given.key)?.ending.abort();
    const { key, bridge } = given;
    const ending = new AbortController();
    const ended = runHosted(bridge, runBridge, {
      tell: (news) => tell({ key, news }),
      signal: AbortSignal.any([signal, ending.signal]),
    }).finally(() => {
      running.delete(key);
      tell({ key, news: { event: 'ended' } });
    });
    running.set(key, { ending, ended });
  };
  process.on('message', take);
  await new Promise<void>((resolve) => {
    signal.addEventListener('abort', () => resolve(), { once: true });
    if (signal.aborted) resolve();
  });
  await Promise.all([...running.values()].map(({ ended }) => ended));
  if (process.connected) process.disconnect();
}

interface Hosting {
  readonly signal: AbortSignal;
  tell(news: HostNews['news']): void;
}

/** Never rejects: the failure of one bridge is told, and leaves the others alone. */
async function runHosted(
  { logFile, ...bridge }: HostedBridge,
  runBridge: RunBridge,
  { signal, tell }: Hosting,
): Promise<void> {
  const log = openLogFile(logFile);
  const note = (entry: LogEntry) =>
    log.append(formatLogLine({ ...entry, bridge: bridge.bridgeId }, new Date()));
  const write = (line: string, entry: LogEntry = { event: 'bridge_notice', message: line }) => {
    note(entry);
    if (bridge.asksAtTerminal) console.error(inOneLine(line));
  };
  const onStatus: BridgeConfig['onStatus'] = (status) => {
    note({ event: `bridge_${status.event}`, message: detailOf(status) });
    tell(status);
    if (status.event === 'connected') releaseMemoryOfStart();
  };
  try {
    const { preset } = await readSettings(bridge.environment);
    await logTo(write, () =>
      beside(
        (ending) => watchState(bridge.stateDir, write, ending),
        (ending) => runBridge({ ...bridge, preset, onStatus }, ending),
        signal,
      ),
    );
  } catch (error) {
    onStatus({ event: 'failed', message: describeFailure(error) });
  }
}

function detailOf(status: BridgeStatus): string {
  switch (status.event) {
    case 'connected':
      return status.confinement.detail;
    case 'disconnected':
      return status.reason;
    default:
      return status.message;
  }
}

/** A server that is gone needs no news. */
function tell(news: HostNews): void {
  if (process.connected) process.send?.(news);
}

async function runOwnBridge(config: BridgeConfig, signal: AbortSignal): Promise<void> {
  const { runBridge } = await import('../../bridge/run.ts');
  await runBridge(config, signal);
}
