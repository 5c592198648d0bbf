/** Runs a server in this process: `up`, `serve`, the service and the server in the background all end here. */
import { runServer, type ServerOptions } from '../../local/server/server.ts';
import type { StatePlace } from '../../local/state/folder.ts';
import { openServerState } from '../../local/state/state.ts';
import { EXIT } from '../terminal/exit-codes.ts';
import { nameModel } from './ready.ts';
import type { StartSettings } from './start-settings.ts';

/** What differs between the commands that run a server. */
export interface RunOptions
  extends Omit<ServerOptions, keyof StartSettings | 'kind' | 'state' | 'modelNames'> {
  readonly place: Pick<StatePlace, 'serverDir' | 'kind'>;
  readonly settings: StartSettings;
}

/** Runs until `signal` aborts, and rejects with its reason then. @throws {LocalError} if the server cannot start or go on. */
export async function runHere(
  { place, settings, ...options }: RunOptions,
  signal: AbortSignal,
): Promise<never> {
  const state = await openServerState(place.serverDir);
  const modelNames = nameModel(settings.model);
  return await runServer({ ...options, ...settings, kind: place.kind, state, modelNames }, signal);
}

/** Runs `run` until `signal` aborts, which is no failure; before `isReady` is called the exit code says so. */
export async function untilInterrupted(
  run: (isReady: () => void) => Promise<never>,
  signal: AbortSignal,
): Promise<void> {
  let isReady = false;
  try {
    await run(() => {
      isReady = true;
    });
  } catch (error) {
    if (!signal.aborted || error !== signal.reason) throw error;
    if (!isReady) process.exitCode = EXIT.interrupted;
  }
}
