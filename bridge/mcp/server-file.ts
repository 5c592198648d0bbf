/** The file that lists a bridge's MCP servers, and the lists that a workspace brings along. */
import { mkdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import * as z from 'zod';
import { LocalError } from '../../machine/local-error.ts';
import {
  PRIVATE_FOLDER,
  readIfThere,
  readPlainFile,
  replaceFile,
} from '../../machine/private-files.ts';
import { parseJson } from '../../shared/json.ts';
import { parseServerList, type ServerConfig, type ServerList } from './server-list.ts';

/** In the bridge's state folder, which only its owner can read: servers need keys. */
export function serverFileIn(stateDir: string): string {
  return join(stateDir, 'mcp.json');
}

export async function readServerFile(file: string): Promise<ServerList> {
  return parseServerList((await readIfThere(file)) ?? '{}');
}

/**
 * Puts a server into the list, or takes it out (undefined). Everything else in the file stays as it is.
 * @throws {LocalError} for a file that cannot be read as a list.
 */
export async function changeServerFile(
  file: string,
  name: string,
  config: Readonly<Record<string, unknown>> | undefined,
): Promise<void> {
  const { mcpServers, ...rest } = parseRaw(file, (await readIfThere(file)) ?? '{}');
  const others = Object.entries(mcpServers).filter(([other]) => other !== name);
  const servers = Object.fromEntries(config ? [...others, [name, config]] : others);
  mkdirSync(dirname(file), { recursive: true, mode: PRIVATE_FOLDER });
  replaceFile(file, `${JSON.stringify({ ...rest, mcpServers: servers }, undefined, 2)}\n`);
}

function parseRaw(file: string, text: string): z.infer<typeof RawList> {
  try {
    return RawList.parse(parseJson(text));
  } catch {
    const problem = `${file} is no JSON object with "mcpServers": mend it by hand.`;
    throw new LocalError('refused', problem);
  }
}

const RawList = z.looseObject({ mcpServers: z.record(z.string(), z.unknown()).default({}) });

/** Lists that other programs read from a workspace. */
export const WORKSPACE_LISTS = ['.mcp.json', join('.cursor', 'mcp.json')] as const;

/** A server of a workspace's own list. Nothing runs it before the owner has taken it into the bridge's list. */
export interface ProposedServer {
  readonly file: string;
  readonly name: string;
  readonly config: ServerConfig;
}

export async function readProposedServers(workspace: string): Promise<readonly ProposedServer[]> {
  const lists = await Promise.all(
    WORKSPACE_LISTS.map(async (file) => {
      // A file that is missing, unreadable or no file proposes nothing.
      const text = await readPlainFile(join(workspace, file)).catch(() => '{}');
      const { servers } = parseServerList(text);
      return [...servers].map(([name, config]) => ({ file, name, config }));
    }),
  );
  return lists.flat();
}
