/** `--workspace` and `--state`: which instance a command is about. The same for every command. */
import type { Command } from 'commander';
import { OWN_ROOT } from '../../local/own-root.ts';
import type { StateLocation } from '../../local/state/folder.ts';
import { listLocations } from '../../local/state/running.ts';

/** As commander gives them. */
export interface LocationOptions {
  readonly workspace?: string;
  readonly state?: string;
}

/** Adds both options to a command. */
export function addLocationOptions(command: Command): Command {
  return command
    .option(
      '--workspace <folder>',
      'the folder to work in (default: the current one, or the nearest above it that is known)',
    )
    .option(
      '--state <folder>',
      'where keys and conversations are kept (default: one per workspace)',
    );
}

/** The instance that the options name. */
export function locationOf({ workspace, state }: LocationOptions): StateLocation {
  return { workspaceDir: workspace ?? currentFolder(), stateDir: state };
}

/**
 * The instance that the options name; without options the nearest one from the current folder upwards: one that runs,
 * where that is wanted, else one whose state is kept. Where there is none the current folder is named.
 */
export async function findLocation(
  options: LocationOptions,
  wanted: 'running' | 'kept',
): Promise<StateLocation> {
  const here = locationOf(options);
  if (options.workspace !== undefined || options.state !== undefined) return here;
  const above = await listLocations(here.workspaceDir);
  const running = wanted === 'running' ? above.find(({ isRunning }) => isRunning) : undefined;
  return running?.location ?? above[0]?.location ?? here;
}

/** npm runs a script in the package's own folder and tells where its user is; elsewhere that would be out of date. */
function currentFolder(): string {
  const { npm_lifecycle_event: npmScript, INIT_CWD: folder } = process.env;
  return npmScript && folder && process.cwd() === OWN_ROOT ? folder : process.cwd();
}
