/** `drawbridge mcp`: the MCP servers whose tools the agent may use. */
import { dirname } from 'node:path';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { locateState } from '../../../local/state/folder.ts';
import { openState } from '../../../local/state/state.ts';
import { LocalError } from '../../../machine/local-error.ts';
import type { ProposedServer } from '../../../packages/mcp/index.ts';
import {
  type ServerConfig,
  type ServerList,
  ServerName,
} from '../../../packages/mcp/server-list.ts';
import { inOneLine, printableLine } from '../../../shared/text/plain-sight.ts';
import { RENDER_LIMITS } from '../../limits.ts';
import { findItem, listCommand, type Naming } from '../../list/list-command.ts';
import {
  addLocationOptions,
  findLocation,
  type LocationOptions,
  locationWordsOf,
} from '../../target/location-options.ts';
import { EXIT } from '../../terminal/exit-codes.ts';
import { ownCommand } from '../../terminal/own-command.ts';
import { openTerminal } from '../../terminal/terminal.ts';
import { UsageError } from '../../terminal/usage-error.ts';

interface AddOptions extends LocationOptions {
  readonly url?: string;
  readonly header: Record<string, string>;
  readonly env: Record<string, string>;
  readonly input: Record<string, string>;
  readonly from?: string;
  readonly sandbox?: true;
}

interface McpLoginOptions extends LocationOptions {
  readonly browser: boolean;
}

/** Without a subcommand it lists. Returns the group: `serve` is registered elsewhere. */
export function registerMcp(program: Command): Command {
  const group = listCommand(program, {
    ...NAMING,
    description: 'Manage the MCP servers whose tools the agent may use',
    listDescription: 'List the servers',
    addOptions: addLocationOptions,
    open: openList,
    load: loadServers,
    columns: {
      NAME: ({ name }) => name,
      SERVER: ({ config }) => serverText(config),
      STATE: ({ state }) => state(),
    },
    json: async ({ name, config, state }) => {
      return { name, server: serverText(config), state: await state() };
    },
    empty: 'No MCP server is listed.',
    actions: [
      {
        name: 'remove',
        description: 'Remove a server from the list',
        done: 'Removed',
        run: removeServer,
      },
    ],
  });
  const add = group
    .command('add <name> [command...]')
    .usage('<name> [options] -- <command> [arguments]')
    .description('Add a server: a program, or a URL. The bridge starts it at once')
    .option('--url <url>', 'a server behind streamable HTTP instead of a program')
    .addOption(
      new Option('--header <name: value>', 'sent with each request to the URL; repeatable')
        .argParser(addPair(':'))
        .default({}, 'none'),
    )
    .addOption(
      new Option('--env <name=value>', 'in the environment of the program; repeatable')
        .argParser(addPair('='))
        .default({}, 'none'),
    )
    .option('--sandbox', "run the program in the sandbox of the agent's commands")
    .addOption(
      new Option('--input <id=value>', 'a value that the list of --from asks for; repeatable')
        .argParser(addPair('='))
        .default({}, 'none'),
    )
    .option('--from <file>', 'take the server of this name from a list of another program');
  addLocationOptions(add).action(addServer);
  const login = group
    .command('login <name>')
    .description('Log in at a server that requires it, in the browser')
    .option('--no-browser', 'only print the address of the login page');
  addLocationOptions(login).action(async (name: string, options: McpLoginOptions) => {
    const { file, servers, workspace } = await openList(options);
    const { config } = findItem(namedIn(servers), name, NAMING);
    const { logInAt } = await import('./login.ts');
    await logInAt(name, config, { file, workspace, opensBrowser: options.browser });
  });
  const test = group.command('test [name]').description('Start each server, and list its tools');
  addLocationOptions(test).action(testServers);
  return group;
}

interface NamedServer {
  readonly name: string;
  readonly config: ServerConfig;
}

const NAMING: Naming<NamedServer> = {
  command: 'mcp',
  noun: 'MCP server',
  id: ({ name }) => name,
};

interface ListedServer extends NamedServer {
  /** Asks the bridge of the folder, once for all servers. */
  state(): Promise<string | undefined>;
}

async function loadServers(list: OpenList) {
  const { readProposedServers } = await import('../../../packages/mcp/index.ts');
  const { mcpStateOf } = await import('../../render/mcp-server.ts');
  const { runningServers } = await import('./running.ts');
  const { servers, problems, workspace, projectDir, options } = list;
  let asked: ReturnType<typeof runningServers> | undefined;
  const items = namedIn(servers).map(({ name, config }): ListedServer => {
    const state = async () => {
      const reason = await whyNotRunning(config, list);
      if (reason !== null) return `not running: ${reason}`;
      asked ??= runningServers(options, projectDir);
      const report = (await asked).find((server) => server.name === name);
      return report && mcpStateOf(report);
    };
    return { name, config, state };
  });
  const proposed = (await readProposedServers(workspace)).filter(
    ({ name, config }) => JSON.stringify(servers.get(name)) !== JSON.stringify(config),
  );
  const notes = proposed.length > 0 ? notesOn(proposed, options) : [];
  return { items, problems: problems.map(inOneLine), notes };
}

function notesOn(proposed: readonly ProposedServer[], options: LocationOptions): string[] {
  const lines = proposed.map(({ file, name, config }) => {
    const add = ownCommand('mcp', 'add', name, '--from', file, ...locationWordsOf(options));
    return `  ${lineOf(name, config)}\n    ${add}`;
  });
  return ['\nThe workspace proposes these servers. None runs before you add it:', ...lines];
}

async function addServer(name: string, command: string[], options: AddOptions): Promise<void> {
  const { changeServerFile } = await import('../../../packages/mcp/index.ts');
  const { ServerConfig } = await import('../../../packages/mcp/server-list.ts');
  if (!ServerName.safeParse(name).success)
    throw new UsageError('A name is 1 to 64 letters, digits, dots, dashes and underscores.');
  const { file, servers, workspace } = await openList(options);
  const config = ServerConfig.safeParse(await wantedServer(workspace, name, command, options));
  if (!config.success) throw new UsageError(`Server ${name}: ${config.error.issues[0]?.message}.`);
  const { disabled: _, ...stored } = config.data;
  // The folder must be a whole one: the other commands refuse a folder with this file alone.
  await openState(await findLocation(options, 'kept'));
  await changeServerFile(file, name, stored);
  const terminal = openTerminal(process, process.env);
  terminal.write(`${servers.has(name) ? 'Replaced' : 'Added'} ${lineOf(name, config.data)}\n`);
  const { variablesIn } = await import('../../../packages/mcp/index.ts');
  const names = variablesIn(config.data);
  if (names.length > 0)
    terminal.write(`It gets ${names.map(inLine).join(', ')} from the environment of the bridge.\n`);
  const reason = await whyNotRunning(config.data, { file, workspace });
  if (reason !== null) {
    terminal.write(`It does not run: ${reason}.\n  ${againConfined(name, command, options)}\n`);
    terminal.write(`${ABOUT_SANDBOX}\n`);
    return;
  }
  const test = ownCommand('mcp', 'test', name, ...locationWordsOf(options));
  terminal.write(`${test} shows its tools.\n`);
}

/** Null for a server that the bridge starts. */
async function whyNotRunning(
  config: ServerConfig,
  { file, workspace }: { readonly file: string; readonly workspace: string },
): Promise<string | null> {
  if ('url' in config || config.sandbox) return null;
  const { whyNotOutsideSandbox } = await import('../../../packages/mcp/connected.ts');
  const folder = dirname(file);
  return await whyNotOutsideSandbox(config, { folder, workspace, environment: process.env });
}

/** The command that adds the same server for the sandbox. */
function againConfined(name: string, command: readonly string[], options: AddOptions): string {
  const { env, from, input } = options;
  const variables = Object.entries(env).flatMap(([key, value]) => ['--env', `${key}=${value}`]);
  const values = Object.entries(input).flatMap(([id, value]) => ['--input', `${id}=${value}`]);
  const source = from === undefined ? variables : ['--from', from, ...values];
  const words = ['mcp', 'add', name, '--sandbox', ...source, ...locationWordsOf(options)];
  return ownCommand(...words, ...(from === undefined ? ['--', ...command] : []));
}

const ABOUT_SANDBOX =
  'A program in the sandbox has no network, so install the server first, in the workspace or with npm install -g. A server that asks for roots gets the workspace without naming it.';

/** What the options describe: exactly one kind of server. */
async function wantedServer(
  workspace: string,
  name: string,
  [command, ...args]: string[],
  { url, header: headers, env, from, sandbox, input: inputs }: AddOptions,
): Promise<object> {
  const kinds = [command, url, from].filter((kind) => kind !== undefined);
  if (kinds.length !== 1)
    throw new UsageError('Give exactly one of these: a command after --, --url, or --from.');
  if (sandbox && url !== undefined) throw new UsageError(NO_PROGRAM);
  if (url !== undefined) return { url, headers };
  if (command !== undefined) return { command, args, env, sandbox };
  const { readOtherList } = await import('../../../packages/mcp/index.ts');
  const proposed = await readOtherList(workspace, from ?? '').catch(() => []);
  const found = proposed.find((server) => server.name === name);
  if (found && sandbox && 'url' in found.config) throw new UsageError(NO_PROGRAM);
  if (found) {
    const config = await withInputs(found.config, inputs);
    return sandbox ? { ...config, sandbox } : config;
  }
  throw new LocalError('refused', `${from} lists no server ${name} that can be used.`);
}

/** VS Code asks for these when it starts the server; here the owner gives them once. */
async function withInputs(
  config: ServerConfig,
  inputs: Readonly<Record<string, string>>,
): Promise<ServerConfig> {
  const { mapTexts } = await import('../../../packages/mcp/index.ts');
  return mapTexts(config, (text) =>
    text.replaceAll(/\$\{input:([^}]*)\}/g, (_, id: string) => {
      const given = inputs[id];
      if (given !== undefined) return given;
      throw new UsageError(
        `The list asks for the value ${inLine(id)}: add --input ${inLine(id)}=VALUE.`,
      );
    }),
  );
}

const NO_PROGRAM = '--sandbox goes with a program only: a URL has none.';

async function removeServer({ name }: NamedServer, { file }: OpenList): Promise<void> {
  const { changeServerFile, loginFileOf, removeLogin } = await import(
    '../../../packages/mcp/index.ts'
  );
  await changeServerFile(file, name, undefined);
  removeLogin(loginFileOf(file, name));
}

async function testServers(name: string | undefined, options: LocationOptions): Promise<void> {
  const { servers, workspace, file } = await openList(options);
  const { loginFileOf } = await import('../../../packages/mcp/index.ts');
  const { tryServer } = await import('../../../packages/mcp/connected.ts');
  const all = namedIn(servers);
  const chosen = name === undefined ? all : [findItem(all, name, NAMING)];
  const terminal = openTerminal(process, process.env);
  for (const { name: listed, config } of chosen) {
    const tried =
      'sandbox' in config && config.sandbox
        ? UNTRIED
        : await tryServer(config, {
            folder: dirname(file),
            workspace,
            loginFile: loginFileOf(file, listed),
          });
    terminal.writeOut(`${listed}: ${inLine(tried.summary)}\n`);
    for (const line of tried.lines) terminal.writeOut(`  ${inLine(line)}\n`);
    if (!tried.isReady) process.exitCode = EXIT.failure;
  }
}

const UNTRIED = {
  isReady: true,
  summary: 'runs only in the sandbox of the bridge, whose terminal shows its state',
  lines: [],
};

function namedIn(servers: ServerList['servers']): NamedServer[] {
  return [...servers].map(([name, config]) => ({ name, config }));
}

type OpenList = Awaited<ReturnType<typeof openList>>;

async function openList(options: LocationOptions) {
  const { readServerFile, serverFileIn } = await import('../../../packages/mcp/index.ts');
  const location = await findLocation(options, 'kept');
  const { projectDir } = await locateState(location);
  const file = serverFileIn(projectDir);
  const workspace = location.workspaceDir;
  return { ...(await readServerFile(file)), file, projectDir, workspace, options };
}

function lineOf(name: string, config: ServerConfig): string {
  return `${name}  ${serverText(config)}`;
}

/** Without headers and environment, which can hold keys. */
function serverText(config: ServerConfig): string {
  const how = 'url' in config ? config.url : [config.command, ...config.args].join(' ');
  return `${inLine(how)}${'sandbox' in config && config.sandbox ? ' (in the sandbox)' : ''}${config.disabled ? ' (disabled)' : ''}`;
}

function addPair(separator: ':' | '=') {
  return (text: string, pairs: Record<string, string>): Record<string, string> => {
    const at = text.indexOf(separator);
    if (at < 1) throw new InvalidArgumentError(`It is a name, "${separator}" and a value.`);
    return { ...pairs, [text.slice(0, at).trim()]: text.slice(at + 1).trim() };
  };
}

function inLine(text: string): string {
  return printableLine(text, 2 * RENDER_LIMITS.maxSummaryChars);
}
