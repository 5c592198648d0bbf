/** The one place that uses the MCP SDK as a client. */

import { resolve } from 'node:path';
import { UnauthorizedError } from '@modelcontextprotocol/sdk/client/auth.js';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import {
  StreamableHTTPClientTransport,
  StreamableHTTPError,
} from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { RequestOptions } from '@modelcontextprotocol/sdk/shared/protocol.js';
import type { FetchLike, Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import {
  type CallToolResult,
  CallToolResultSchema,
  ErrorCode,
  McpError,
  type Tool,
} from '@modelcontextprotocol/sdk/types.js';
import { CfWorkerJsonSchemaValidator } from '@modelcontextprotocol/sdk/validation/cfworker';
import type { Metadata } from '../../shared/documents.ts';
import { CallFailure, type CallOutcome } from './call-failure.ts';
import { MCP_LIMITS } from './limits.ts';
import type { ServerConfig } from './server-list.ts';

export interface ConnectOptions {
  /** The folder that a server's `cwd` is relative to, and where it runs without one. Absolute. */
  readonly folder: string;
  /** Takes what a stdio server writes to stderr. */
  readonly onStderr: (text: string) => void;
  /** The list of tools has changed. */
  readonly onToolsChanged: () => void;
  /** The connection is over: by the server, by an error, or by {@link Connection.close}. Called once. */
  readonly onClosed: () => void;
  readonly signal: AbortSignal;
  /** In the place of `fetch`, for a server behind a URL. */
  readonly fetch?: FetchLike;
  /** Takes notifications that MCP does not define, unchecked. */
  readonly onNotification?: (method: string, params: unknown) => void;
}

export interface CallOptions {
  readonly signal: AbortSignal;
  /** Milliseconds without progress. */
  readonly timeoutMs: number;
  readonly onProgress?: NonNullable<RequestOptions['onprogress']>;
}

/** A server that has answered `initialize`. */
export interface Connection {
  /** Name and version, as the server gives them. */
  readonly about: string;
  /** The server's own name for itself. */
  readonly serverName: string;
  readonly instructions: string | undefined;
  /** All pages, at most `MCP_LIMITS.maxTools` tools. Rejects with an error of the SDK. */
  readonly listTools: () => Promise<Tool[]>;
  /** Rejects with a {@link CallFailure}; where the signal has aborted, with any error. */
  readonly call: (tool: string, args: Metadata, options: CallOptions) => Promise<CallToolResult>;
  /** Ends a stdio server: first by the end of its input, then by signals. */
  readonly close: () => Promise<void>;
}

/** Rejects when the server cannot be started, or does not answer in time. */
export async function connectServer(
  config: ServerConfig,
  options: ConnectOptions,
): Promise<Connection> {
  const { onToolsChanged, onClosed, onNotification } = options;
  const client = new Client(
    { name: 'drawbridge', version: '0.1.0' },
    {
      // The SDK's default compiles a server's schemas to code.
      jsonSchemaValidator: new CfWorkerJsonSchemaValidator(),
      listChanged: { tools: { autoRefresh: false, onChanged: onToolsChanged } },
    },
  );
  client.onclose = onClosed;
  // A line that is no message, such as a greeting on stdout, does not end the connection.
  client.onerror = () => {};
  client.fallbackNotificationHandler = async ({ method, params }) =>
    onNotification?.(method, params);
  await shakeHands(client, transportFor(config, options), options);
  const { name, version } = client.getServerVersion() ?? { name: 'unknown', version: '' };
  return {
    about: `${name} ${version}`.trim(),
    serverName: name,
    instructions: client.getInstructions(),
    listTools: () => listTools(client, options.signal),
    call: (tool, args, options) => callTool(client, { name: tool, arguments: args }, options),
    close: () => client.close(),
  };
}

/** The SDK bounds `initialize`, but not the message after it, which a server behind a URL may leave unanswered. */
async function shakeHands(
  client: Client,
  transport: Transport,
  { signal }: ConnectOptions,
): Promise<void> {
  const timeout = MCP_LIMITS.connectMs;
  const end = () => void client.close();
  const timer = setTimeout(end, 2 * timeout);
  signal.addEventListener('abort', end, { once: true });
  try {
    await client.connect(transport, { signal, timeout });
  } catch (error) {
    await client.close();
    throw error;
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', end);
  }
}

async function callTool(
  client: Client,
  params: { readonly name: string; readonly arguments: Metadata },
  { signal, timeoutMs, onProgress }: CallOptions,
): Promise<CallToolResult> {
  try {
    const result = await client.callTool(params, CallToolResultSchema, {
      ...{ signal, ...(onProgress && { onprogress: onProgress }) },
      ...{ timeout: timeoutMs, resetTimeoutOnProgress: true },
      maxTotalTimeout: MCP_LIMITS.maxCallMs,
    });
    return CallToolResultSchema.parse(result);
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    throw new CallFailure(outcomeOf(error), message, { cause: error });
  }
}

function transportFor(
  config: ServerConfig,
  { folder, onStderr, fetch }: ConnectOptions,
): Transport {
  if ('url' in config) {
    const requestInit = { headers: config.headers };
    return new StreamableHTTPClientTransport(new URL(config.url), {
      requestInit,
      ...(fetch && { fetch }),
    });
  }
  const { command, args, env, cwd = '.' } = config;
  const transport = new StdioClientTransport({
    ...{ command, args, env, cwd: resolve(folder, cwd), stderr: 'pipe' },
    maxBufferSize: MCP_LIMITS.maxMessageBytes,
  });
  transport.stderr?.on('data', (chunk) => onStderr(String(chunk)));
  return transport;
}

async function listTools(client: Client, signal: AbortSignal): Promise<Tool[]> {
  const tools: Tool[] = [];
  if (client.getServerCapabilities()?.tools === undefined) return tools;
  let cursor: string | undefined;
  for (let page = 0; page < MCP_LIMITS.maxPages; page++) {
    const options = { signal, timeout: MCP_LIMITS.listMs };
    const listed = await client.listTools(cursor === undefined ? {} : { cursor }, options);
    tools.push(...listed.tools);
    cursor = listed.nextCursor;
    if (cursor === undefined || tools.length >= MCP_LIMITS.maxTools) break;
  }
  return tools.slice(0, MCP_LIMITS.maxTools);
}

function outcomeOf(error: unknown): CallOutcome {
  if (error instanceof McpError && error.code === ErrorCode.RequestTimeout) return 'timeout';
  if (error instanceof McpError && error.code !== ErrorCode.ConnectionClosed) return 'answered';
  if (error instanceof UnauthorizedError) return 'refused';
  if (error instanceof StreamableHTTPError && error.code === TOO_LARGE) return 'answered';
  if (error instanceof StreamableHTTPError) return isClientError(error.code) ? 'refused' : 'lost';
  return isNotConnected(error) ? 'refused' : 'lost';
}

/** The status for this one message; the session goes on. */
const TOO_LARGE = 413;

function isClientError(status = 0): boolean {
  return status >= 400 && status < 500;
}

/** `fetch` tells the reason as its error's cause. */
function isNotConnected(error: unknown): boolean {
  const { cause } = Object(error);
  return ['ECONNREFUSED', 'ENOTFOUND'].includes(String(Object(cause).code));
}
