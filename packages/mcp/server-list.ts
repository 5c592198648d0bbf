/** The MCP servers that the owner lists, in the `mcpServers` shape that other programs use too. */
import * as z from 'zod';
import { parseIfJson } from '../../shared/text/json.ts';
import { MCP_LIMITS } from './limits.ts';

const Common = z.object({
  disabled: z.boolean().default(false),
  /** Milliseconds that a call may take without progress. */
  timeout: z.number().int().positive().max(MCP_LIMITS.maxCallMs).optional(),
  /** Its only tools, and those that it does not have, by the server's own names. */
  includeTools: z.array(z.string()).optional(),
  excludeTools: z.array(z.string()).optional(),
});

/** A program that speaks MCP on its standard input and output. */
const StdioServer = Common.extend({
  command: z.string().min(1),
  args: z.array(z.string()).default([]),
  env: z.record(z.string(), z.string()).default({}),
  /** Relative to the folder of the list; with `sandbox` to the workspace. */
  cwd: z.string().optional(),
  /** Whether it runs in the bridge's sandbox, as commands do: no network, and only the workspace to write. */
  sandbox: z.boolean().optional(),
});
export type StdioConfig = z.infer<typeof StdioServer>;

/** A server behind streamable HTTP. */
const HttpServer = Common.extend({
  url: z.string().regex(/^(?:https?:\/\/|\$\{)/, { error: 'its url is no http or https address' }),
  headers: z.record(z.string(), z.string()).default({}),
  /** For a login at a server that lets no program register itself: what its operator gave the owner. */
  oauth: z.object({ clientId: z.string(), clientSecret: z.string().optional() }).optional(),
});
export type HttpConfig = z.infer<typeof HttpServer>;

/** Fields of other programs are passed over: people copy their files. */
export const ServerConfig = z.union([StdioServer, HttpServer], {
  error: 'it needs a command (text) or a url (http or https), and the types of its fields must fit',
});
export type ServerConfig = z.infer<typeof ServerConfig>;

export const ServerName = z.string().regex(/^[A-Za-z0-9._-]{1,64}$/, {
  error: 'a name is 1 to 64 letters, digits, dots, dashes and underscores',
});

const ServerFile = z.object({ mcpServers: z.record(z.string(), z.unknown()).default({}) });

export interface ServerList {
  readonly servers: ReadonlyMap<string, ServerConfig>;
  /** One sentence for each entry that cannot be used. */
  readonly problems: readonly string[];
}

/** Reads the text of a list. An entry that is wrong leaves the others as they are. */
export function parseServerList(text: string): ServerList {
  const file = ServerFile.safeParse(parseIfJson(text));
  if (!file.success) {
    return { servers: new Map(), problems: ['The list is no JSON object with "mcpServers".'] };
  }
  const servers = new Map<string, ServerConfig>();
  const problems: string[] = [];
  for (const [name, entry] of Object.entries(file.data.mcpServers)) {
    const problem = problemWith(name, servers.size);
    const config = ServerConfig.safeParse(entry);
    if (problem !== null) problems.push(`Server ${JSON.stringify(name)}: ${problem}.`);
    else if (!config.success) problems.push(`Server ${name}: ${config.error.issues[0]?.message}.`);
    else servers.set(name, config.data);
  }
  return { servers, problems };
}

function problemWith(name: string, count: number): string | null {
  const parsed = ServerName.safeParse(name);
  if (!parsed.success) return parsed.error.issues[0]?.message ?? 'its name cannot be used';
  return count < MCP_LIMITS.maxServers ? null : `${MCP_LIMITS.maxServers} servers come before it`;
}
