/** `drawbridge processes`: lists what the agent's commands have left running in the background, and stops it. */
import type { Command } from 'commander';
import { type Client, createClient } from '../../client/index.ts';
import { locateState } from '../../local/state/folder.ts';
import { readBridgeId } from '../../local/state/state.ts';
import { LocalError } from '../../machine/local-error.ts';
import type { ProcessInfo } from '../../shared/wire/processes.ts';
import {
  addLocationOptions,
  findLocation,
  type LocationOptions,
} from '../target/location-options.ts';
import { findTarget } from '../target/target.ts';
import { shortLine } from '../terminal/short-line.ts';
import { openTerminal } from '../terminal/terminal.ts';

/** Adds the command, which lists if no subcommand is given. */
export function registerProcesses(program: Command): void {
  const group = program
    .command('processes')
    .description('List or stop what the agent runs in the background in this folder')
    .addHelpText('after', `\nWithout a command, it lists them.`);
  const list = group
    .command('list', { isDefault: true })
    .description('List the running ones, then ended ones whose output the agent can still read');
  addLocationOptions(list).action(listAll);
  const stop = group.command('stop <id>').description('Stop one, with all that it started');
  addLocationOptions(stop).action(stopOne);
}

async function listAll(options: LocationOptions): Promise<void> {
  const { client, bridgeId } = await connect(options);
  const { items } = await client.listProcesses(bridgeId);
  const terminal = openTerminal(process, process.env);
  for (const item of items) terminal.writeOut(`${processLine(item)}\n`);
  if (items.length === 0) terminal.write('Nothing runs in the background.\n');
}

async function stopOne(id: string, options: LocationOptions): Promise<void> {
  const { client, bridgeId } = await connect(options);
  const stopped = await client.stopProcess(bridgeId, id);
  openTerminal(process, process.env).writeOut(`${processLine(stopped)}\n`);
}

async function connect(
  options: LocationOptions,
): Promise<{ readonly client: Client; readonly bridgeId: string }> {
  const { projectDir } = await locateState(await findLocation(options, 'kept'));
  const bridgeId = await readBridgeId(projectDir);
  if (bridgeId === undefined) throw new LocalError('refused', 'This folder was never connected.');
  return { client: createClient(await findTarget(options)), bridgeId };
}

/** Empty where no bridge answers before the signal aborts. */
export async function processesIn(
  options: LocationOptions,
  signal: AbortSignal,
): Promise<readonly ProcessInfo[]> {
  try {
    const { client, bridgeId } = await connect(options);
    return (await client.listProcesses(bridgeId, signal)).items;
  } catch {
    return []; // The status is shown without them.
  }
}

/** A line of a list. */
export function processLine({ id, running, started, end = '', command }: ProcessInfo): string {
  const state = running ? 'runs' : shortLine(end);
  return [shortLine(id), `started ${shortLine(started)}`, state, shortLine(command)].join('  ');
}
