/** `drawbridge processes`: lists what the agent's commands have left running in the background, and stops it. */
import type { Command } from 'commander';
import { type Client, createClient, type Device } from '../../client/index.ts';
import { locateState } from '../../local/state/folder.ts';
import { readBridgeId } from '../../local/state/state.ts';
import { LocalError } from '../../machine/local-error.ts';
import type { ProcessInfo } from '../../shared/wire/processes.ts';
import { listCommand } from '../list/list-command.ts';
import { addressOf, NO_DEVICE, OPENED, parsePort, portWords } from '../render/process.ts';
import {
  addLocationOptions,
  findLocation,
  type LocationOptions,
} from '../target/location-options.ts';
import { findTarget } from '../target/target.ts';
import { ownCommand } from '../terminal/own-command.ts';
import { shortLine } from '../terminal/short-line.ts';
import { openTerminal } from '../terminal/terminal.ts';

/** Adds the command, which lists if no subcommand is given. */
export function registerProcesses(program: Command): void {
  const group = listCommand(program, {
    command: 'processes',
    noun: 'process',
    description: 'List or stop what the agent runs in the background in this folder',
    listDescription:
      'List running processes, then ended ones with output that the agent can still read',
    addOptions: addLocationOptions,
    open: connect,
    load: async ({ client, bridgeId }: Connected) => await client.listProcesses(bridgeId),
    id: ({ id }) => id,
    columns: {
      ID: ({ id }) => id,
      STARTED: ({ started }) => new Date(started),
      STATE: ({ running, end }) => (running ? 'running' : shortLine(end ?? '')),
      PORTS: ({ ports = [] }) => portWords(ports).join(', '),
      COMMAND: ({ command }) => shortLine(command),
    },
    empty: 'Nothing runs in the background.',
    actions: [
      {
        name: 'stop',
        description: 'Stop a process and everything that it started',
        done: 'Stopped',
        run: async ({ id }, { client, bridgeId }) => await client.stopProcess(bridgeId, id),
      },
    ],
  });
  const open = group
    .command('open <id> <port>')
    .description('Open a port of a process to the browser of this machine, until the process ends');
  addLocationOptions(open).action(openPort);
  const close = group.command('close <id> <port>').description('Close an open port of a process');
  addLocationOptions(close).action(closePort);
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
  const port = parsePort(typed);
  await client.closePort(bridgeId, id, port);
  openTerminal(process, process.env).write(`Closed the port ${port} of ${shortLine(id)}.\n`);
}

interface Connected {
  readonly client: Client;
  readonly bridgeId: string;
  readonly device: Device | null;
}

async function connect(options: LocationOptions): Promise<Connected> {
  const { projectDir } = await locateState(await findLocation(options, 'kept'));
  const bridgeId = await readBridgeId(projectDir);
  if (bridgeId === undefined) {
    const connect = `\`${ownCommand('start')}\` connects it`;
    throw new LocalError('refused', `This folder was never connected: ${connect}.`);
  }
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
