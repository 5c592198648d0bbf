/** `drawbridge processes`: lists what the agent's commands have left running in the background, and stops it. */
import type { Command } from 'commander';
import { type Client, createClient, type Device } from '../../client/index.ts';
import { locateState } from '../../local/state/folder.ts';
import { readBridgeId } from '../../local/state/state.ts';
import { LocalError } from '../../machine/local-error.ts';
import type { ProcessInfo } from '../../shared/wire/processes.ts';
import { addressOf, NO_DEVICE, OPENED, parsePort, processLine } from '../render/process.ts';
import {
  addLocationOptions,
  findLocation,
  type LocationOptions,
} from '../target/location-options.ts';
import { findTarget } from '../target/target.ts';
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
  const open = group
    .command('open <id> <port>')
    .description('Open a port of one to the browser of this machine, until it ends');
  addLocationOptions(open).action(openPort);
  const close = group.command('close <id> <port>').description('Close the port again');
  addLocationOptions(close).action(closePort);
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

async function openPort(id: string, typed: string, options: LocationOptions): Promise<void> {
  const port = parsePort(typed);
  const { client, bridgeId, device } = await connect(options);
  if (device === null) throw new LocalError('refused', NO_DEVICE);
  const terminal = openTerminal(process, process.env);
  const address = addressOf(await client.openPort(bridgeId, id, port, device), port);
  terminal.write(`${OPENED}\n`);
  terminal.writeOut(`${address}\n`);
}

async function closePort(id: string, typed: string, options: LocationOptions): Promise<void> {
  const { client, bridgeId } = await connect(options);
  const closed = await client.closePort(bridgeId, id, parsePort(typed));
  openTerminal(process, process.env).writeOut(`${processLine(closed)}\n`);
}

async function connect(options: LocationOptions): Promise<{
  readonly client: Client;
  readonly bridgeId: string;
  readonly device: Device | null;
}> {
  const { projectDir } = await locateState(await findLocation(options, 'kept'));
  const bridgeId = await readBridgeId(projectDir);
  if (bridgeId === undefined) throw new LocalError('refused', 'This folder was never connected.');
  const target = await findTarget(options);
  return { client: createClient(target), bridgeId, device: target.device };
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
