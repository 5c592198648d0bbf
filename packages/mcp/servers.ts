/** Runs the MCP servers that the owner lists, and offers their tools. */

import { dirname } from 'node:path';
import type { Tool } from '@modelcontextprotocol/client';
import type { Environment } from '../../machine/environment.ts';
import { lookEvery } from '../../machine/keep-alive.ts';
import { logEvent } from '../../machine/log.ts';
import type { LogEvent } from '../../machine/log-line.ts';
import { readIfThere } from '../../machine/private-files.ts';
import { OFFER_LIMITS } from '../../shared/limits.ts';
import type { Metadata } from '../../shared/wire/documents.ts';
import type { McpServerReport } from '../../shared/wire/mcp-servers.ts';
import type { OfferedTool, Offers, ToolExecutor } from '../host/index.ts';
import { MCP_LIMITS } from './limits.ts';
import { loginFileOf } from './login/login-file.ts';
import { offeredTools } from './offers/offered-tools.ts';
import { reportServers } from './report.ts';
import { type DownServer, McpServer } from './server.ts';
import { parseServerList, type ServerConfig, type ServerList } from './server-list.ts';
import type { ServerSandbox } from './transport/confined.ts';

export interface McpPlace {
  /** Absolute. */
  readonly workspace: string;
  /** The file that lists the servers. Programs run in its folder. */
  readonly file: string;
  readonly offers: Offers;
  /** Of the bridge. */
  readonly environment: Environment;
  /** For servers that are to run in it. */
  readonly sandbox?: ServerSandbox;
  /** Called after each change of {@link McpServers.reports}. */
  readonly onChange: () => void;
}

/** Runs from {@link start} to {@link end}. Starts the servers in the background: nothing waits for them. */
export class McpServers {
  readonly #place: McpPlace;
  readonly #ended = new AbortController();
  readonly #running = new Map<string, { readonly key: string; readonly server: McpServer }>();
  #listed: ServerList['servers'] = new Map();
  #watching: Promise<void> | undefined;
  #logged = new Set<string>();
  #cut: ReadonlyMap<string, number> = new Map();
  #text: string | undefined;

  constructor(place: McpPlace) {
    this.#place = place;
  }

  /** Starts the servers of the list, and follows the list. May be called again. */
  start(): void {
    this.#watching ??= this.#watch();
  }

  /** Ends every server. Resolves when their processes are gone. */
  async end(): Promise<void> {
    this.#ended.abort();
    await this.#watching;
    await Promise.all([...this.#running.values()].map(({ server }) => server.end()));
  }

  /** For people. Bounded. */
  get reports(): McpServerReport[] {
    const servers = [...this.#listed].flatMap(([name, { disabled }]) => {
      const server = this.#running.get(name)?.server;
      return server ?? (disabled ? { name, state: DISABLED } : []);
    });
    return reportServers(servers, this.#cut);
  }

  async #watch(): Promise<void> {
    const look = () =>
      this.#look().catch((error: unknown) =>
        this.#log('mcp_list_refused', [`mcp.json: ${String(error)}`]),
      );
    await lookEvery(MCP_LIMITS.watchMs, look, this.#ended.signal);
  }

  /** Ends the servers that the list names no more or otherwise, and starts the others. */
  async #look(): Promise<void> {
    const text = (await readIfThere(this.#place.file)) ?? '{}';
    if (text === this.#text || this.#ended.signal.aborted) return;
    this.#text = text;
    const list = parseServerList(text);
    this.#log('mcp_list_refused', list.problems);
    this.#listed = list.servers;
    const wanted = wantedIn(list);
    if (wanted.size === 0 && this.#running.size === 0) return this.#place.onChange();
    for (const [name, { key, server }] of this.#running) {
      if (wanted.get(name)?.key === key) continue;
      this.#running.delete(name);
      await server.end();
    }
    for (const [name, { key, config }] of wanted) {
      if (this.#running.has(name)) continue;
      const { workspace, sandbox, file, environment } = this.#place;
      const server = new McpServer(name, config, {
        folder: dirname(file),
        workspace,
        environment,
        sandbox,
        loginFile: loginFileOf(file, name),
        onChange: () => this.#changed(name),
      });
      this.#running.set(name, { key, server });
    }
    this.#offer();
    this.#place.onChange();
  }

  #changed(name: string): void {
    const server = this.#running.get(name)?.server;
    if (server === undefined) return;
    const { state } = server;
    if (state.state === 'down') logDown(name, state.reason);
    if (state.state === 'ready') {
      const message = `The MCP server ${name} is ready (${state.about}): ${state.tools.length} tools.`;
      logEvent({ event: 'mcp_server_ready', server: name, message });
    }
    if (state.state !== 'starting') this.#offer();
    this.#place.onChange();
  }

  /** The tools of a server that stays down are not offered: a run learns at its start that they are not there. */
  #offer(): void {
    const ready = [...this.#running.values()].flatMap(({ server }) =>
      server.offered ? [{ server, state: server.offered }] : [],
    );
    const servers = ready.map(({ server, state }) => ({
      server: server.name,
      tools: [
        ...state.tools
          .filter(({ name: tool }) => server.isWanted(tool))
          .map((tool) => ({ tool, isOurs: false, call: callOf(server, tool) })),
        ...server.readingTools.map((reading) => ({ ...reading, isOurs: true })),
      ],
    }));
    const { tools, problems } = offeredTools(servers);
    const instructions = ready.flatMap(({ server: { name }, state: { instructions: text } }) =>
      text === undefined ? [] : [{ server: name, text }],
    );
    this.#place.offers.replace(tools, instructions);
    this.#cut = cutIn(this.#place.offers, tools);
    const cut = [...this.#cut].map(([name, count]) => {
      const all = servers.find(({ server }) => server === name)?.tools.length;
      return `The MCP server ${name} has ${all} tools, and ${count} of them are not offered: ${WHY_CUT}`;
    });
    this.#log('offer_refused', [...problems, ...cut]);
  }

  /** Each sentence once. */
  #log(event: LogEvent, sentences: readonly string[]): void {
    for (const message of sentences) if (!this.#logged.has(message)) logEvent({ event, message });
    this.#logged = new Set([...this.#logged, ...sentences].slice(-MCP_LIMITS.maxTools));
  }
}

const DISABLED: DownServer = {
  state: 'down',
  reason: 'it is disabled in mcp.json',
  why: 'disabled',
};

/** The reason can quote what the server wrote, so a log file gets none. */
function logDown(server: string, reason: string): void {
  const down = `The MCP server ${server} is down`;
  const message = `${down}: \`drawbridge mcp test ${server}\` says why.`;
  logEvent({ event: 'mcp_server_down', server, message }, `${down}: ${reason}`);
}

const WHY_CUT = `a model takes ${OFFER_LIMITS.maxTools} tools. List fewer servers, or leave out tools with "excludeTools".`;

/** How many tools of each server the edge does not get, even if the owner believes every server. */
function cutIn(offers: Offers, tools: readonly OfferedTool[]): ReadonlyMap<string, number> {
  const offered = new Set(offers.set(() => true)?.offers.map(({ name }) => name));
  const cut = new Map<string, number>();
  for (const { definition } of tools) {
    const { server } = definition.origin;
    if (!offered.has(definition.name)) cut.set(server, (cut.get(server) ?? 0) + 1);
  }
  return cut;
}

function callOf(server: McpServer, tool: Tool): ToolExecutor<Metadata> {
  return (args, context) => server.call(tool, args, context);
}

function wantedIn({ servers }: ServerList) {
  return new Map(
    [...servers]
      .filter(([, { disabled }]) => !disabled)
      .map(([name, config]: [string, ServerConfig]) => [
        name,
        { config, key: JSON.stringify(config) },
      ]),
  );
}
