/** MCP servers that an editor passes on: the bridge starts only those that its owner has listed. */

import { isDeepStrictEqual } from 'node:util';
import type { McpServer } from '@agentclientprotocol/sdk';
import { readServerFile, serverFileIn } from '../../bridge/mcp/server-file.ts';
import type { ServerConfig } from '../../bridge/mcp/server-list.ts';
import { nameInLine } from '../../shared/text/plain-sight.ts';
import type { OwnBridge } from '../target/target.ts';
import { ownCommand } from '../terminal/own-command.ts';

/**
 * Says which of the servers the agent does not have, and how the owner adds them; undefined if the list of this
 * machine's bridge has all of them, each with the same definition. Values of variables and headers are not repeated.
 */
export async function unusedServers(
  servers: readonly McpServer[],
  own: OwnBridge | undefined,
): Promise<string | undefined> {
  if (servers.length === 0) return undefined;
  const listed = own && (await readServerFile(serverFileIn(own.stateDir))).servers;
  const unused = servers.filter((server) => !isSame(listed?.get(server.name), server));
  if (unused.length === 0) return undefined;
  const lines = unused.map((server) => `  ${commandFor(server)}`);
  const names = unused.map(({ name }) => nameInLine(name)).join(', ');
  return (
    `The agent does not have these MCP servers of the editor: ${names}. A server runs on the machine of the bridge ` +
    `once its owner has listed it there, as the editor has it:\n${lines.join('\n')}`
  );
}

/** Whether the owner has listed the server with this very definition. */
function isSame(listed: ServerConfig | undefined, server: McpServer): boolean {
  if (!listed || listed.disabled) return false;
  if ('url' in server) {
    return (
      'url' in listed &&
      isDeepStrictEqual(pick(listed, 'url', 'headers'), {
        url: server.url,
        headers: pairsOf(server.headers),
      })
    );
  }
  return (
    'command' in listed &&
    isDeepStrictEqual(pick(listed, 'command', 'args', 'env'), {
      command: server.command,
      args: server.args,
      env: pairsOf(server.env),
    })
  );
}

function pick<T extends object, Name extends keyof T>(value: T, ...names: Name[]) {
  return Object.fromEntries(names.map((name) => [name, value[name]]));
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
