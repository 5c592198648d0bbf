/** `--workspace` and `--state`: the options that name an instance, the same for every command. */
import { resolve } from 'node:path';
import type { Command } from 'commander';
import {
  locateState,
  namedServerDir,
  type StateLocation,
  type StatePlace,
  sharedServerDir,
} from '../../local/state/folder.ts';
import { listLocations } from '../../local/state/running.ts';
import { personsFolder } from '../terminal/own-command.ts';

/** The options as commander parses them. */
export interface LocationOptions {
  readonly workspace?: string;
  readonly state?: string;
}

/** Adds both options to a command. `where` is the folder that it takes without them. */
export function addLocationOptions(
  command: Command,
  where: 'here' | 'here or above' = 'here or above',
): Command {
  const byDefault =
    where === 'here' ? 'the current folder' : 'the current folder, or a known one above it';
  return command
    .option('--workspace <folder>', `the folder to work in (default: ${byDefault})`)
    .option(
      '--state <folder>',
      'the folder of the keys and conversations (default: one for all your projects)',
    );
}

/** The options as words of a command line. */
export function locationWordsOf({ workspace, state }: LocationOptions): string[] {
  return Object.entries({ workspace, state }).flatMap(([name, value]) =>
    value ? [`--${name}`, value] : [],
  );
}

/** The instance that the options name. */
export function locationOf({ workspace, state }: LocationOptions): StateLocation {
  return { workspaceDir: workspace ?? personsFolder(), stateDir: state };
}

/**
 * The instance that the options name. Without options, the nearest one from the current folder upwards: a running one
 * if `wanted` asks for it and there is one, else one with a state folder. Without any, the current folder's. `folder`
 * takes the place of the current one.
 */
export async function findLocation(
  options: LocationOptions,
  wanted: 'running' | 'kept',
  folder?: string,
): Promise<StateLocation> {
  const here = folder === undefined ? locationOf(options) : { workspaceDir: folder };
  if (options.workspace !== undefined || options.state !== undefined) return here;
  const above = await listLocations(here.workspaceDir);
  const running = wanted === 'running' ? above.find(({ isRunning }) => isRunning) : undefined;
  return running?.location ?? above[0]?.location ?? here;
}

/** The state folders of a server and, where it has one, of a project. */
export type KeptPlace = Pick<StatePlace, 'serverDir'> & Partial<StatePlace>;

/** The state of `--state` or of this folder, or the shared server. Creates nothing. @throws {LocalError} if none. */
export async function findKept(
  options: LocationOptions,
  wanted: 'running' | 'kept',
): Promise<KeptPlace> {
  if (options.state !== undefined) {
    const dir = await namedServerDir(options.state);
    return { kind: 'own', serverDir: dir, projectDir: dir };
  }
  try {
    return await locateState(await findLocation(options, wanted));
  } catch (error) {
    if (options.workspace !== undefined) throw error;
    return { kind: 'shared', serverDir: await sharedServerDir() };
  }
}

/** The state folder of this machine, which has its sessions elsewhere. It need not exist. */
export async function stateDirOf({ state }: LocationOptions): Promise<string> {
  return state === undefined ? await sharedServerDir() : resolve(state);
}

/** The server of this folder; the shared one where the folder cannot be a workspace, such as the home folder. */
export async function findServerDir(options: LocationOptions): Promise<string> {
  return (await findKept(options, 'running')).serverDir;
}
