/** `drawbridge bridge-host`: runs the bridges of a server's projects. The server starts it (local/bridge/host.ts). */

import type { BridgeConfig } from '../../bridge/config.ts';
import { type HostedBridge, type HostNews, HostOrder } from '../../local/bridge/messages.ts';
import { ownersOf, readSettings } from '../../local/config/settings.ts';
import { LOCAL_LIMITS } from '../../local/limits.ts';
import { beside } from '../../local/processes/beside.ts';
import { releaseMemorySoon } from '../../local/processes/memory.ts';
import { readDevice, signerOf } from '../../local/state/device.ts';
import { watchState } from '../../local/state/watch.ts';
import { configFolder } from '../../machine/config-folder.ts';
import { LocalError } from '../../machine/local-error.ts';
import { logTo } from '../../machine/log.ts';
import type { TellNotice } from '../../machine/log-line.ts';
import { inOneLine } from '../../shared/text/plain-sight.ts';
import type { ProofSigner } from '../../shared/wire/proof.ts';
import { openBridgeLog } from '../setup/connect/bridge-log.ts';
import { type RunBridge, runOwnBridge } from '../setup/connect/run-own-bridge.ts';
import { allowMove, findSignedIn, notSignedIn } from '../target/signed-in.ts';
import { describeFailure } from '../terminal/failure-text.ts';

/** Takes its orders from the process that started it, and reads no command line. Tests pass their own bridge. */
export async function runBridgeHost(runBridge: RunBridge = runOwnBridge): Promise<void> {
  if (!process.send) throw new LocalError('refused', 'The server starts this command itself.');
  const signal = endWithParent();
  if (runBridge === runOwnBridge) void import('../../bridge/run.ts');
  await hostBridges(runBridge, signal);
}

/** Aborts at SIGTERM, or when the IPC channel closes because the server was killed. */
function endWithParent(): AbortSignal {
  const ending = new AbortController();
  process.on('SIGTERM', () => ending.abort());
  const endAlone = () => {
    ending.abort();
    // No parent is left to kill a process that does not end.
    setTimeout(() => process.exit(1), LOCAL_LIMITS.bridgeGraceMs).unref();
  };
  process.once('disconnect', endAlone);
  // If the parent was killed while this process was starting, no `disconnect` event comes.
  if (!process.connected) endAlone();
  // A terminal sends these to all its processes. This one waits for its parent, which would restart it otherwise.
  for (const name of ['SIGINT', 'SIGHUP']) process.on(name, () => {});
  return ending.signal;
}

/** Runs the bridges that are ordered until `signal` aborts and all of them are over. */
async function hostBridges(runBridge: RunBridge, signal: AbortSignal): Promise<void> {
  const running = new Map<string, { ending: AbortController; ended: Promise<void> }>();
  const take = (message: unknown) => {
    const given = HostOrder.parse(message);
    if (given.order === 'end') return running.get(given.key)?.ending.abort();
    const { key, bridge } = given;
    const ending = new AbortController();
    const ended = runHosted(bridge, runBridge, {
      report: (news) => send({ key, news }),
      signal: AbortSignal.any([signal, ending.signal]),
    }).finally(() => {
      running.delete(key);
      send({ key, news: { event: 'ended' } });
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
  report(news: HostNews['news']): void;
}

/** Never rejects: the failure of one bridge is reported, and leaves the others alone. */
async function runHosted(
  { logFile, token: given, ...bridge }: HostedBridge,
  runBridge: RunBridge,
  { signal, report }: Hosting,
): Promise<void> {
  const { bridgeId, asksAtTerminal: isAtTerminal } = bridge;
  const { write, noteStatus } = openBridgeLog({ logFile, bridgeId, isAtTerminal });
  let isIndexed = false;
  const onStatus: BridgeConfig['onStatus'] = (status) => {
    noteStatus(status);
    report(status);
    const isFirstIndex = !isIndexed && status.event === 'index' && status.index.state === 'ready';
    isIndexed ||= isFirstIndex;
    if (status.event === 'connected' || isFirstIndex) releaseMemorySoon();
  };
  const onNotice: TellNotice = (line, event) => write({ event, message: line }, inOneLine(line));
  try {
    const owners = ownersOf(await readSettings(bridge.environment));
    const configDir = configFolder(bridge.environment);
    const device = await readDevice(bridge.machineDir);
    const machineKey = device && (await signerOf(device));
    const session = given === null ? await sessionAt(bridge, machineKey) : { token: given };
    await logTo(write, () =>
      beside(
        (ending) => watchState(bridge.stateDir, onNotice, ending),
        (ending) =>
          runBridge(
            {
              ...bridge,
              ...session,
              ...owners,
              machineKey,
              configDir,
              onStatus,
              programs: [process.execPath],
            },
            ending,
          ),
        signal,
      ),
    );
  } catch (error) {
    onStatus({ event: 'failed', message: describeFailure(error) });
  }
}

async function sessionAt(
  { url, machineDir: state, bridgeId, moves }: Omit<HostedBridge, 'token' | 'logFile'>,
  machineKey: ProofSigner | undefined,
) {
  const session = await findSignedIn(url, { state }, bridgeId);
  if (session && moves && machineKey) await allowMove(url, { state }, bridgeId, machineKey);
  if (session) return { token: session.token, headers: session.headers };
  throw new LocalError('refused', notSignedIn(url));
}

/** A server that is gone needs no news. */
function send(news: HostNews): void {
  if (process.connected) process.send?.(news);
}
