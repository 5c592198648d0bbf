/** The ways to an MCP server: a program on this machine, or an address. */
import { resolve } from 'node:path';
import { DEFAULT_INHERITED_ENV_VARS } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { FetchLike, Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import { boundedFetch } from './bounded-fetch.ts';
import { confinedStart, type ServerSandbox } from './confined.ts';
import { readLogin, storedLogin } from './login-file.ts';
import type { HttpConfig, StdioConfig } from './server-list.ts';
import { StdioTransport } from './stdio-transport.ts';

/** A transport that may know why it ended. */
export type SomeTransport = Transport & Partial<Pick<StdioTransport, 'endReason'>>;

export interface HttpOptions {
  /** Of the server's login, which may not be there. */
  readonly loginFile?: string;
  /** In the place of `fetch`. */
  readonly fetch?: FetchLike;
  /** A message of the server was longer than `MCP_LIMITS.maxMessageBytes`. */
  readonly onTooLong: (reason: string) => void;
}

/** Without a login the server is asked all the same: most demand none. */
export async function httpTransport(
  { url, headers }: HttpConfig,
  { loginFile = '', fetch, onTooLong }: HttpOptions,
): Promise<SomeTransport> {
  const login = loginFile === '' ? undefined : await readLogin(loginFile, url);
  return new StreamableHTTPClientTransport(new URL(url), {
    ...{ requestInit: { headers }, fetch: boundedFetch(onTooLong, fetch) },
    ...(login && { authProvider: storedLogin(loginFile, login) }),
  });
}

export interface StdioOptions {
  /** The folder that a server's `cwd` is relative to, and where it runs without one. Absolute. */
  readonly folder: string;
  /** Of the bridge. A program gets the few variables of it that name no secret. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** For servers that are to run in it. */
  readonly sandbox?: ServerSandbox | undefined;
  /** Takes what the program writes to stderr. */
  readonly onStderr: (text: string) => void;
}

/** A server with `sandbox` never starts without one. */
export function stdioTransport(
  config: StdioConfig,
  { folder, environment, sandbox, onStderr }: StdioOptions,
): SomeTransport {
  if (config.sandbox) return new StdioTransport(confinedStart(config, folder, sandbox), onStderr);
  const { command: file, args, env, cwd = '.' } = config;
  const launch = {
    ...{ file, args, cwd: resolve(folder, cwd), env: { ...inherited(environment), ...env } },
    ...{ inputs: [], hasPidNamespace: false },
  };
  return new StdioTransport(async (spawn) => void spawn(launch), onStderr);
}

function inherited(environment: StdioOptions['environment']): Record<string, string> {
  const entries = DEFAULT_INHERITED_ENV_VARS.map((name) => [name, environment[name] ?? '']);
  return Object.fromEntries(entries.filter(([, value]) => value !== ''));
}
