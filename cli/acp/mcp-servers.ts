/** MCP servers that an editor passes on: the bridge starts only those that its owner has listed, or says yes to. */

import { isDeepStrictEqual } from 'node:util';
import type { McpServer } from '@agentclientprotocol/sdk';
import { changeServerFile, readServerFile, serverFileIn } from '../../packages/mcp/index.ts';
import { ServerConfig, ServerName } from '../../packages/mcp/server-list.ts';
import { nameInLine } from '../../shared/text/plain-sight.ts';
import type { OwnBridge } from '../target/target.ts';
import { ownCommand } from '../terminal/own-command.ts';

/** The servers of an editor that the agent does not have. */
export interface MissingServers {
  /** Those that a yes at the editor takes into the list of this machine's bridge. */
  readonly proposed: readonly ProposedByEditor[];
  /** Says of the others how the owner adds them; undefined without others. Repeats no values of variables and headers. */
  readonly notice: string | undefined;
}

/** A server that the list does not have, with the definition that a yes is for. */
export interface ProposedByEditor {
  readonly name: string;
  /** In the form of the list. */
  readonly definition: Readonly<Record<string, unknown>>;
  /** The list of the bridge. */
  readonly file: string;
}

/** Compares what the editor passes on with the list of this machine's bridge: only equal definitions count as listed. */
export async function findMissing(
  servers: readonly McpServer[],
  own: OwnBridge | undefined,
): Promise<MissingServers> {
  if (servers.length === 0) return { proposed: [], notice: undefined };
  const file = own && serverFileIn(own.stateDir);
  const listed = file === undefined ? undefined : (await readServerFile(file)).servers;
  const missing = servers.filter((server) => !isSame(listed?.get(server.name), server));
  const proposed = missing.flatMap((server) => {
    // A name that the owner has given to another definition, or has switched off, is the owner's alone.
    if (file === undefined || listed?.has(server.name) || !isUsable(server)) return [];
    return { name: server.name, definition: definitionOf(server), file };
  });
  const names = new Set(proposed.map(({ name }) => name));
  return { proposed, notice: noticeOf(missing.filter(({ name }) => !names.has(name))) };
}

/** Takes the server into the list, unless its name was listed meanwhile. Its bridge starts it within a minute. */
export async function takeServer({ name, definition, file }: ProposedByEditor): Promise<void> {
  const { servers } = await readServerFile(file);
  if (!servers.has(name)) await changeServerFile(file, name, definition);
}

/** The list fills in `${...}`, which an editor means literally. Old servers with an event stream are not supported. */
function isUsable(server: McpServer): boolean {
  const isOld = 'type' in server && server.type === 'sse';
  const definition = definitionOf(server);
  const isLiteral = !JSON.stringify(definition).includes('${');
  const isValid = ServerName.safeParse(server.name).success;
  return !isOld && isLiteral && isValid && ServerConfig.safeParse(definition).success;
}

function noticeOf(missing: readonly McpServer[]): string | undefined {
  if (missing.length === 0) return undefined;
  const lines = missing.map((server) => `  ${commandFor(server)}`);
  const names = missing.map(({ name }) => nameInLine(name)).join(', ');
  return (
    `The agent cannot use these MCP servers of the editor: ${names}. To use one, its owner adds it on the ` +
    `machine of the bridge:\n${lines.join('\n')}`
  );
}

/** Whether the owner has listed the server with this very definition. */
function isSame(listed: ServerConfig | undefined, server: McpServer): boolean {
  if (!listed || listed.disabled) return false;
  const definition = definitionOf(server);
  const known = Object.entries(listed).filter(([name]) => name in definition);
  return isDeepStrictEqual(Object.fromEntries(known), definition);
}

/** The fields that say what runs. */
function definitionOf(server: McpServer): ProposedByEditor['definition'] {
  if ('url' in server) return { url: server.url, headers: pairsOf(server.headers) };
  return { command: server.command, args: server.args, env: pairsOf(server.env) };
}

function pairsOf(pairs: readonly { readonly name: string; readonly value: string }[]) {
  return Object.fromEntries(pairs.map(({ name, value }) => [name, value]));
}

function commandFor(server: McpServer): string {
  const add = ['mcp', 'add', server.name];
  if ('url' in server) {
    const headers = server.headers.flatMap(({ name }) => ['--header', `${name}: VALUE`]);
    return ownCommand(...add, '--url', server.url, ...headers);
  }
  const variables = server.env.flatMap(({ name }) => ['--env', `${name}=VALUE`]);
  return ownCommand(...add, ...variables, '--', server.command, ...server.args);
}
