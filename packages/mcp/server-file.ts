/** The file that lists a bridge's MCP servers, and the lists that a workspace brings along. */
import { mkdirSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import * as z from 'zod';
import { LocalError } from '../../machine/local-error.ts';
import {
  PRIVATE_FOLDER,
  readIfThere,
  readPlainFile,
  replaceFile,
} from '../../machine/private-files.ts';
import { parseJson } from '../../shared/text/json.ts';
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
    const problem = `${file} is no JSON object with "mcpServers": repair it by hand.`;
    throw new LocalError('refused', problem);
  }
}

const RawList = z.looseObject({ mcpServers: z.record(z.string(), z.unknown()).default({}) });

/** Lists that other programs read from a workspace: Claude Code, Cursor, Gemini CLI, Qwen Code and VS Code. */
const WORKSPACE_LISTS = [
  '.mcp.json',
  join('.cursor', 'mcp.json'),
  join('.gemini', 'settings.json'),
  join('.qwen', 'settings.json'),
  join('.vscode', 'mcp.json'),
] as const;

/** A server of another list. Nothing runs it before the owner has taken it into the bridge's list. */
export interface ProposedServer {
  readonly file: string;
  readonly name: string;
  readonly config: ServerConfig;
}

export async function readProposedServers(workspace: string): Promise<readonly ProposedServer[]> {
  const lists = await Promise.all(
    WORKSPACE_LISTS.map((file) => readOtherList(workspace, file).catch(() => [])),
  );
  return lists.flat();
}

/**
 * The servers of one list in any of these forms. `file` is relative to the workspace, or absolute. Rejects for a file
 * that is missing or no regular file; one that is no list has no servers.
 */
export async function readOtherList(
  workspace: string,
  file: string,
): Promise<readonly ProposedServer[]> {
  const text = await readPlainFile(resolve(workspace, file));
  const { servers } = parseServerList(ownFormOf(text));
  return [...servers].map(([name, config]) => ({ file, name, config }));
}

/** VS Code has `servers`, Gemini CLI has `httpUrl` and `$NAME`; both take comments. */
function ownFormOf(text: string): string {
  const { mcpServers, servers } = OtherList.parse(jsonWithComments(text));
  const entries = Object.entries(mcpServers ?? servers ?? {}).map(([name, entry]) => {
    const { httpUrl, url = httpUrl, ...others } = OtherEntry.parse(entry);
    const own = { ...others, ...(url !== undefined && { url }) };
    return [
      name,
      parseJson(
        JSON.stringify(own).replaceAll(BARE_VARIABLE, (_, variable) => `${'$'}{${variable}}`),
      ),
    ];
  });
  return JSON.stringify({ mcpServers: Object.fromEntries(entries) });
}

const BARE_VARIABLE = /\$([A-Za-z_]\w*)/g;
const Entries = z.record(z.string(), z.unknown());
const OtherList = z.object({ mcpServers: Entries.optional(), servers: Entries.optional() });
const OtherEntry = z.looseObject({ httpUrl: z.string().optional(), url: z.string().optional() });

/** Without comments and commas before a closing bracket. Texts stay as they are. Linear, however the file is broken. */
function jsonWithComments(text: string): unknown {
  const keepText = (_: string, quoted: string | undefined) => quoted ?? '';
  const plain = text
    .replaceAll(/("(?:[^"\\]|\\[\s\S])*(?:"|$))|\/\/[^\n]*|\/\*[\s\S]*?(?:\*\/|$)/g, keepText)
    .replaceAll(/("(?:[^"\\]|\\[\s\S])*(?:"|$))|,(?=\s*[}\]])/g, keepText);
  return parseJson(plain);
}
