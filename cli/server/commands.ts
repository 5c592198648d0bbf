/** `drawbridge status`, `stop` and `disconnect`: the server in the background. */
import { join, resolve } from 'node:path';
import type { Command } from 'commander';
import type { ProjectReport, ServerReport } from '../../local/server/control.ts';
import { askServer } from '../../local/server/control-client.ts';
import { locateState, projectName, sharedServerDir } from '../../local/state/folder.ts';
import { noteRemote, readRemote } from '../../local/state/logins.ts';
import { findInstanceIn } from '../../local/state/running.ts';
import { resolveWorkspace } from '../../local/state/workspace.ts';
import { forgetFolder } from '../../machine/agent-folders.ts';
import type { VectorReport } from '../../machine/bridge-status.ts';
import { LocalError } from '../../machine/local-error.ts';
import { inOneLine, nameInLine } from '../../shared/text/plain-sight.ts';
import { afterHours } from '../chat/privacy.ts';
import { CLI_LIMITS } from '../limits.ts';
import { localTime } from '../render/table.ts';
import {
  addLocationOptions,
  findLocation,
  findServerDir,
  type LocationOptions,
} from '../target/location-options.ts';
import { EXIT } from '../terminal/exit-codes.ts';
import { asTyped, ownCommand } from '../terminal/own-command.ts';
import { foldedAt } from '../terminal/short-line.ts';
import { jsonLine, openTerminal } from '../terminal/terminal.ts';
import { registerLogs } from './logs.ts';
import { confinementText, modelLine } from './ready.ts';
import { stopServer } from './stop.ts';

interface StatusOptions extends LocationOptions {
  readonly json: boolean;
}

export function registerServerCommands(program: Command): void {
  const status = program
    .command('status')
    .description('Show the server, its connected folders and recent events')
    .option('--json', 'print it as one line of JSON', false);
  addLocationOptions(status).action((options: StatusOptions) => showStatus(options));
  const stop = program
    .command('stop')
    .description('Stop the server; running answers continue when it starts again');
  addLocationOptions(stop).action(stopHere);
  const disconnect = program
    .command('disconnect')
    .description('Disconnect this folder from the server; its conversations stay');
  addLocationOptions(disconnect).action(disconnectHere);
  registerLogs(program, findServerDir);
}

async function showStatus(options: StatusOptions): Promise<void> {
  const { writeOut, write, columns } = openTerminal(process, process.env, {
    machine: options.json,
  });
  const serverDir = await findServerDir(options);
  const instance = await findInstanceIn(serverDir);
  if (!instance) {
    process.exitCode = EXIT.failure;
    if (options.json) writeOut(jsonLine({ running: false }));
    else write(`No server runs: \`${ownCommand()}\` starts one.\n`);
    return;
  }
  const { server } = await askServer(instance.control, { ask: 'status' }, 'status');
  if (options.json) return writeOut(jsonLine({ running: true, stateDir: serverDir, ...server }));
  const notesOn = async (folder: ProjectReport) => [
    ...(await troublesOf(folder, options)),
    ...(await runningIn(folder, options)),
  ];
  const troubles = await Promise.all(server.projects.map(notesOn));
  writeOut(statusText(server, serverDir, troubles, columns));
}

/** What the owner does not see otherwise of the MCP servers of a connected folder. */
async function troublesOf(
  { workspaceDir }: ProjectReport,
  { state }: LocationOptions,
): Promise<readonly string[]> {
  const { mcpStateOf } = await import('../render/mcp-server.ts');
  const { runningServers } = await import('../setup/mcp/running.ts');
  const place = await locateState({ workspaceDir, stateDir: state }).catch(() => undefined);
  if (place === undefined) return []; // It was deleted or moved.
  const location = { workspace: workspaceDir, ...(state !== undefined && { state }) };
  return (await runningServers(location, place.projectDir))
    .filter(({ why }) => why !== 'disabled')
    .filter(({ state, cutCount }) => state !== 'ready' || cutCount !== undefined)
    .map((server) => `    MCP server ${server.name}: ${mcpStateOf(server)}`);
}

/** What runs in the background there; nothing where its bridge does not answer soon. */
async function runningIn(
  { workspaceDir, bridge }: ProjectReport,
  { state }: LocationOptions,
): Promise<readonly string[]> {
  if (bridge.state !== 'connected') return [];
  const { processesIn } = await import('./processes.ts');
  const { processLine } = await import('../render/process.ts');
  const location = { workspace: workspaceDir, ...(state !== undefined && { state }) };
  const items = await processesIn(location, AbortSignal.timeout(CLI_LIMITS.bridgeAnswerMs));
  return items.filter(({ running }) => running).map((item) => `    ${processLine(item)}`);
}

function statusText(
  server: ServerReport,
  serverDir: string,
  troubles: readonly (readonly string[])[],
  columns: number | undefined,
): string {
  const labelled = (label: string, text: string) =>
    label.padEnd(LABEL_COLUMNS) + foldedAt(text, columns, LABEL_COLUMNS);
  const listed = (text: string) => `  ${foldedAt(text, columns, LISTED_COLUMNS)}`;
  const metrics = ownCommand('token', '--scope', 'metrics');
  const { version, url, pid, model, deleteAfterHours, started, projects, notices } = server;
  const lines = [
    `Drawbridge ${version} runs at ${url} (process ${pid}, since ${localTime(started)}).`,
    labelled('Model', inOneLine(modelLine(model))),
    ...(deleteAfterHours === undefined
      ? []
      : [
          labelled(
            'Privacy',
            `The text of new conversations is deleted ${afterHours(deleteAfterHours)}.`,
          ),
        ]),
    `State   ${nameInLine(serverDir)}`,
    labelled('Metrics', `${url}/metrics; \`${metrics}\` prints the token`),
    '',
    projects.length === 0 ? 'No folder is connected.' : 'Connected folders:',
    ...projects.flatMap((project, at) => [
      listed(
        `${nameInLine(project.workspaceDir)}${project.to ? ` (at ${inOneLine(project.to)})` : ''}: ${stateText(project)}`,
      ),
      ...(troubles[at] ?? []),
    ]),
    ...(notices.length === 0 ? [] : ['', 'Lately:']),
    ...notices.map(({ time, text }) => listed(`${localTime(time)} ${inOneLine(asTyped(text))}`)),
  ];
  return `${lines.join('\n')}\n`;
}

/** Before the values above the folders, and before the further lines of an item. */
const LABEL_COLUMNS = 8;
const LISTED_COLUMNS = 4;

function stateText({ workspaceDir, bridge, index }: ProjectReport): string {
  switch (bridge.state) {
    case 'starting':
      return 'its bridge is starting';
    case 'connected':
      return `commands ${inOneLine(confinementText(bridge.confinement)).replace(/\.$/, '')}${indexText(index)}`;
    case 'away':
      return `its bridge is reconnecting (${inOneLine(asTyped(bridge.reason))})`;
    case 'failed':
      return `its bridge stopped: ${inOneLine(asTyped(bridge.reason))}`;
    case 'missing': {
      const off = ownCommand('disconnect', '--workspace', workspaceDir);
      return `it was deleted or moved; \`${off}\` removes it from the list`;
    }
  }
}

/** Only worth knowing while there is no whole index: searches then take longer. */
function indexText(index: ProjectReport['index']): string {
  switch (index?.state) {
    case 'off':
      return `; no index (${inOneLine(index.reason)})`;
    case 'building':
      return index.of === 0
        ? '; looking through its files'
        : `; ${index.files} of ${index.of} files indexed`;
    case 'ready': {
      const files = `; ${index.files} files indexed`;
      const rest = index.leftOut === 0 ? '' : `, ${index.leftOut} beyond the limits`;
      return `${files}${rest}${vectorsText(index.vectors)}`;
    }
    case undefined:
      return '';
  }
}

/** Names the server, because it gets the text of the files. */
function vectorsText(vectors: VectorReport | undefined): string {
  switch (vectors?.state) {
    case 'making':
      return `, vectors by ${vectors.server}: ${vectors.done} of ${vectors.of} passages sent`;
    case 'ready': {
      const { server, leftOut, heldBack } = vectors;
      const closed = heldBack === 0 ? '' : `, except ${heldBack} passages that rules exclude`;
      const rest = leftOut === 0 ? '' : ` (${leftOut} passages beyond the limits)`;
      return `, with vectors by ${server}${closed}${rest}`;
    }
    case 'failing':
      return `, no vectors by ${vectors.server} (${inOneLine(vectors.reason)})`;
    case undefined:
      return '';
  }
}

async function stopHere(options: LocationOptions): Promise<void> {
  const { write } = openTerminal(process, process.env);
  const hasRun = await stopServer(await findServerDir(options));
  write(hasRun ? 'Stopped the server.\n' : 'No server runs.\n');
}

async function disconnectHere(options: LocationOptions): Promise<void> {
  const { write } = openTerminal(process, process.env);
  const { workspaceDir: dir } = await findLocation(options, 'running');
  // A folder that is gone can be taken off, too.
  const workspaceDir = await resolveWorkspace(dir).catch(() => resolve(dir));
  const serverDir = await serverOfFolder(options);
  const states = [serverDir, join(serverDir, 'projects', projectName(workspaceDir))];
  const wasElsewhere = await leaveRemotes(states);
  const instance = await findInstanceIn(serverDir);
  if (!instance && wasElsewhere) return write(`Disconnected: ${nameInLine(workspaceDir)}\n`);
  if (!instance) throw new LocalError('failed', 'No server runs in the background.');
  const request = { ask: 'disconnect', workspaceDir } as const;
  const { wasConnected } = await askServer(instance.control, request, 'disconnected');
  const noted = await Promise.all(states.map((state) => forgetFolder(state, workspaceDir)));
  if (!wasConnected && !wasElsewhere && !noted.includes(true))
    throw new LocalError('failed', `${workspaceDir} is not connected.`);
  write(`Disconnected: ${nameInLine(workspaceDir)}\n`);
}

/** The folder is connected to no server elsewhere from now on. Returns whether it was. */
async function leaveRemotes(states: readonly string[]): Promise<boolean> {
  const remotes = await Promise.all(states.map(readRemote));
  remotes.forEach((remote, at) => {
    if (remote !== undefined) noteRemote(states[at] ?? '', undefined);
  });
  return remotes.some((remote) => remote !== undefined);
}

/** A folder that is gone belongs to the shared server, unless `--state` names another one. */
async function serverOfFolder(options: LocationOptions): Promise<string> {
  try {
    return await findServerDir(options);
  } catch (error) {
    if (options.state !== undefined) throw error;
    return await sharedServerDir();
  }
}
