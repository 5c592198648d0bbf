/** `drawbridge daemon`: the local server in the background. `drawbridge` starts it (cli/server/launch.ts). */
import { once } from 'node:events';
import { type Command, Option } from 'commander';
import { type DaemonOptions, runDaemon } from '../../local/daemon/daemon.ts';
import type { Programs } from '../../local/instance.ts';
import { LOCAL_LIMITS } from '../../local/limits.ts';
import { OWN_VERSION } from '../../local/own-root.ts';
import type { StatePlace } from '../../local/state/folder.ts';
import { openServerState } from '../../local/state/state.ts';
import { LocalError } from '../../machine/local-error.ts';
import { inOneLine } from '../../shared/text/plain-sight.ts';
import { abortOnInterrupt } from '../terminal/ending.ts';
import { describeFailure } from '../terminal/failure-text.ts';
import type { LaunchNews } from './launch.ts';
import { nameModel } from './ready.ts';
import { readStartSettings, StartSettings } from './start-settings.ts';

interface DaemonCommand {
  readonly stateDir: string;
  readonly kind: StatePlace['kind'];
}

export function registerDaemon(program: Command, programs: Programs): void {
  program
    .command('daemon', { hidden: true })
    .requiredOption('--state-dir <folder>', 'the folder of the server')
    .addOption(new Option('--kind <kind>').choices(['shared', 'own']).default('shared'))
    .action(async ({ stateDir: serverDir, kind }: DaemonCommand) => {
      if (!process.send) throw new LocalError('refused', NOT_BY_HAND);
      await runInBackground({ serverDir, kind }, programs, abortOnInterrupt());
    });
}

const NOT_BY_HAND = 'This command is started by `drawbridge start`.';

async function runInBackground(
  place: Pick<StatePlace, 'serverDir' | 'kind'>,
  programs: Programs,
  signal: AbortSignal,
): Promise<void> {
  try {
    const late = AbortSignal.timeout(LOCAL_LIMITS.serverStartMs);
    const [message] = await once(process, 'message', { signal: AbortSignal.any([late, signal]) });
    const options = await daemonOptions(place, programs, StartSettings.parse(message));
    const background = {
      withBridges: true,
      sharesTerminal: false,
      onNotice: () => {},
      onReady: async () => tell({ event: 'ready' }),
    };
    await runDaemon({ ...options, ...background }, signal);
  } catch (error) {
    if (signal.aborted && error === signal.reason) return;
    const isRefused = error instanceof LocalError && error.kind === 'refused';
    const message = describeFailure(error);
    tell({ event: 'failed', kind: isRefused ? 'refused' : 'failed', message });
    throw error;
  }
}

/**
 * Runs the shared server for the system's service manager, with the folders that were connected, until `signal` aborts.
 * Nothing is asked: settings come from config.json and the environment.
 * @throws {LocalError} if the server cannot start or go on, or runs already.
 */
export async function runByService(
  serverDir: string,
  programs: Programs,
  signal: AbortSignal,
): Promise<void> {
  const place = { serverDir, kind: 'shared' } as const;
  const onNotice = (line: string) => process.stderr.write(`${inOneLine(line)}\n`);
  try {
    const settings = await readStartSettings({ json: true }, onNotice, signal);
    const options = await daemonOptions(place, programs, settings);
    const alone = { withBridges: true, sharesTerminal: false, onNotice, onReady: async () => {} };
    await runDaemon({ ...options, ...alone }, signal);
  } catch (error) {
    if (!signal.aborted || error !== signal.reason) throw error;
  }
}

/** The options of a server, for a terminal or for none. */
export async function daemonOptions(
  { serverDir, kind }: Pick<StatePlace, 'serverDir' | 'kind'>,
  programs: Programs,
  settings: StartSettings,
): Promise<Omit<DaemonOptions, 'withBridges' | 'sharesTerminal' | 'onNotice' | 'onReady'>> {
  const state = await openServerState(serverDir);
  const modelNames = nameModel(settings.model);
  return { ...settings, programs, kind, state, modelNames, version: OWN_VERSION };
}

/** To the command that started this process. It may have left. */
function tell(news: LaunchNews): void {
  if (!process.connected) return;
  process.send?.(news, () => {
    if (process.connected) process.disconnect();
  });
}
