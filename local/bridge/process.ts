/** Runs the bridge of a local instance as its own process, so that bridge and Worker can die separately. */
import { type ChildProcess, spawn } from 'node:child_process';
import { BridgeStatus } from '../../machine/bridge-status.ts';
import { LocalError } from '../../machine/local-error.ts';
import { LOCAL_LIMITS } from '../limits.ts';
import { supervise } from '../processes/supervise.ts';
import type { State } from '../state/state.ts';
import { mintBridgeToken } from '../state/tokens.ts';
import { ownEnvironment } from './environment.ts';

export interface BridgeProcess {
  readonly url: string;
  readonly state: State;
  readonly workspaceDir: string;
  /** See {@link InstanceBridge}. */
  readonly moves?: boolean;
  /** The program that runs `drawbridge`, and its first arguments. */
  readonly command: readonly [string, ...string[]];
  /** See local/bridge/environment.ts. No command can read a variable that the bridge lacks. */
  readonly environment: Readonly<Record<string, string>>;
  onStatus(status: BridgeStatus): void;
  onRestart(death: string): void;
}

/**
 * Runs the bridge until `signal` aborts, and restarts it whenever it dies.
 * @throws {LocalError} if the Worker refuses the bridge, or the bridge keeps dying.
 */
export async function runBridgeProcess(bridge: BridgeProcess, signal: AbortSignal): Promise<void> {
  const refused = new AbortController();
  let expiresMs = 0;
  let failure: string | undefined;
  let failures = 0;
  const onMessage = (message: unknown) => {
    const status = BridgeStatus.parse(message);
    if (status.event === 'connected') failures = 0;
    if (status.event === 'failed') {
      failure = status.message;
      failures += 1;
      // Counts failures in a row, however long each start takes: another start does not help.
      if (failures >= LOCAL_LIMITS.maxCrashes) refused.abort(new LocalError('failed', failure));
    }
    bridge.onStatus(status);
    // The Worker refuses an expired token. The bridge then ends, and its next process gets a new token.
    if (status.event !== 'refused' || Date.now() >= expiresMs) return;
    refused.abort(new LocalError('failed', status.message));
  };
  const start = async () => {
    failure = undefined;
    const { authSecret, bridgeId } = bridge.state;
    const made = await mintBridgeToken(authSecret, bridgeId);
    expiresMs = made.expiresMs;
    return startBridge(bridge, made.token).on('message', onMessage);
  };
  const either = AbortSignal.any([signal, refused.signal]);
  const { bridgeGraceMs: graceMs } = LOCAL_LIMITS;
  const { onRestart } = bridge;
  const supervision = { graceMs, onRestart, lastWords: () => failure };
  await supervise('The bridge', start, supervision, either);
  refused.signal.throwIfAborted();
}

function startBridge(bridge: BridgeProcess, token: string): ChildProcess {
  const { url, state, workspaceDir, environment } = bridge;
  const [program, ...first] = bridge.command;
  // The bridge finds the state of a project of the shared server by the workspace.
  const place = state.projectDir === state.dir ? ['--state', state.dir] : [];
  const move = bridge.moves ? ['--move'] : [];
  const args = [...first, 'connect', url, '--workspace', workspaceDir, ...place, ...move];
  return spawn(program, args, {
    // The bridge asks its questions at this process's terminal. Stdout is for the ready message alone.
    stdio: ['inherit', process.stderr, process.stderr, 'ipc'],
    env: { ...ownEnvironment(environment), DRAWBRIDGE_TOKEN: token },
  });
}
