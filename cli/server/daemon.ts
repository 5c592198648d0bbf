/** `drawbridge daemon`: the server in the background (cli/server/launch.ts starts it), or as the system's service. */

import { once } from 'node:events';
import { type Command, Option } from 'commander';
import { LOCAL_LIMITS } from '../../local/limits.ts';
import type { Programs } from '../../local/server/worker.ts';
import type { StatePlace } from '../../local/state/folder.ts';
import { LocalError } from '../../machine/local-error.ts';
import { inOneLine } from '../../shared/text/plain-sight.ts';
import { abortOnInterrupt } from '../terminal/ending.ts';
import { describeFailure } from '../terminal/failure-text.ts';
import { printErr } from '../terminal/print.ts';
import type { LaunchNews } from './launch.ts';
import { runHere } from './run.ts';
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
      await runInBackground({ serverDir, kind }, programs);
    });
}

const NOT_BY_HAND = 'This command is started by `drawbridge start`.';

/**
 * Runs the server with the folders that were connected, until SIGTERM. The command that started it sends the settings;
 * the system's service reads them from config.json and its environment, and asks nothing.
 * @throws {LocalError} if the server cannot start or go on, or runs already.
 */
export async function runInBackground(
  place: Pick<StatePlace, 'serverDir' | 'kind'>,
  programs: Programs,
): Promise<void> {
  const signal = abortOnInterrupt();
  const isService = !process.send;
  const onNotice = (line: string) => {
    if (isService) printErr(`${inOneLine(line)}\n`);
  };
  try {
    const settings = isService
      ? await readStartSettings({ json: true }, onNotice, signal)
      : await settingsOfStarter(signal);
    const onReady = async () => send({ event: 'ready' });
    const background = { withBridges: true, sharesTerminal: false, onNotice, onReady };
    await runHere({ place, programs, settings, ...background }, signal);
  } catch (error) {
    if (signal.aborted && error === signal.reason) return;
    const isRefused = error instanceof LocalError && error.kind === 'refused';
    const message = describeFailure(error);
    send({ event: 'failed', kind: isRefused ? 'refused' : 'failed', message });
    throw error;
  }
}

async function settingsOfStarter(signal: AbortSignal): Promise<StartSettings> {
  const late = AbortSignal.timeout(LOCAL_LIMITS.serverStartMs);
  const [message] = await once(process, 'message', { signal: AbortSignal.any([late, signal]) });
  return StartSettings.parse(message);
}

/** To the command that started this process. It may have left. */
function send(news: LaunchNews): void {
  if (!process.connected) return;
  process.send?.(news, () => {
    if (process.connected) process.disconnect();
  });
}
