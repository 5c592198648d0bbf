/** The one place that uses the MCP SDK as a client. */

import { basename } from 'node:path';
import { pathToFileURL } from 'node:url';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import type { RequestOptions } from '@modelcontextprotocol/sdk/shared/protocol.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import {
  type CallToolResult,
  CallToolResultSchema,
  type ElicitRequestFormParams,
  ElicitRequestSchema,
  type ElicitResult,
  ErrorCode,
  type GetPromptResult,
  ListRootsRequestSchema,
  type ListRootsResult,
  McpError,
  type ReadResourceResult,
  type Tool,
} from '@modelcontextprotocol/sdk/types.js';
import type { jsonSchemaValidator } from '@modelcontextprotocol/sdk/validation';
import type { Metadata } from '../../shared/documents.ts';
import { schemaCheck } from '../../shared/json-schema.ts';
import { MCP_LIMITS } from './limits.ts';
import { listOffering, listTools, type Offering } from './lists.ts';
import { reached, rethrow } from './sdk-errors.ts';
import type { ServerConfig } from './server-list.ts';
import {
  type HttpOptions,
  httpTransport,
  type StdioOptions,
  stdioTransport,
} from './transports.ts';

export interface ConnectOptions extends StdioOptions, Omit<HttpOptions, 'onTooLong'> {
  /** The list of tools, of resources or of prompts has changed. */
  readonly onToolsChanged: () => void;
  /** The server asks a person something. Without this the server is told that nobody can be asked. */
  readonly onElicit?: (
    params: ElicitRequestFormParams,
    signal: AbortSignal,
  ) => Promise<ElicitResult>;
  /** The connection is over: by the server, by an error, or by {@link Connection.close}. Called once, with the reason. */
  readonly onClosed: (reason: string) => void;
  readonly signal: AbortSignal;
  /** Takes notifications that MCP does not define, unchecked. */
  readonly onNotification?: (method: string, params: unknown) => void;
}

export interface CallOptions {
  /** Ends the call, at the server too. A call has no other limit of time. */
  readonly signal: AbortSignal;
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
  /** What it has to read. Empty where it has nothing, or does not say. */
  readonly listOffering: () => Promise<Offering>;
  /** Rejects with a {@link CallFailure}; where the signal has aborted, with any error. The next two as well. */
  readonly call: (tool: string, args: Metadata, options: CallOptions) => Promise<CallToolResult>;
  readonly readResource: (uri: string, options: CallOptions) => Promise<ReadResourceResult>;
  readonly getPrompt: (
    name: string,
    args: Readonly<Record<string, string>>,
    options: CallOptions,
  ) => Promise<GetPromptResult>;
  /** Ends a stdio server: first by the end of its input, then by signals. */
  readonly close: () => Promise<void>;
}

/** Rejects when the server cannot be started, or does not answer in time. */
export async function connectServer(
  config: ServerConfig,
  options: ConnectOptions,
): Promise<Connection> {
  const { signal, onToolsChanged, onClosed } = options;
  const isProgram = 'command' in config;
  const onChanged = { autoRefresh: false, onChanged: onToolsChanged };
  const client = new Client(
    { name: 'drawbridge', version: '0.1.0' },
    {
      // The SDK's default compiles a server's schemas to code, and no validator of it is bounded.
      jsonSchemaValidator: BOUNDED_VALIDATOR,
      capabilities: {
        ...(options.onElicit && { elicitation: { form: {} } }),
        ...(isProgram && { roots: {} }),
      },
      listChanged: { tools: onChanged, resources: onChanged, prompts: onChanged },
    },
  );
  let failure: string | undefined;
  const onTooLong = (reason: string) => {
    failure ??= reason;
    void client.close();
  };
  const transport =
    'url' in config
      ? await httpTransport(config, { ...options, onTooLong })
      : stdioTransport(config, options);
  client.onclose = () => onClosed(failure ?? transport.endReason ?? 'it ended');
  // A notification that is wrong does not end the connection.
  client.onerror = () => {};
  client.fallbackRequestHandler = refuseRequest;
  const { onElicit } = options;
  if (onElicit) {
    client.setRequestHandler(ElicitRequestSchema, async ({ params }, extra) => {
      if ('requestedSchema' in params) return await onElicit(params, extra.signal);
      throw new McpError(ErrorCode.InvalidParams, NO_URL);
    });
  }
  if (isProgram) client.setRequestHandler(ListRootsRequestSchema, () => rootsOf(options));
  client.fallbackNotificationHandler = async ({ method, params }) =>
    options.onNotification?.(method, params);
  await shakeHands(client, transport, signal).catch((error: unknown) => {
    const reason = failure ?? transport.endReason;
    rethrow(reason === undefined ? error : new Error(reason, { cause: error }));
  });
  const { name, version } = client.getServerVersion() ?? { name: 'unknown', version: '' };
  return {
    about: `${name} ${version}`.trim(),
    serverName: name,
    instructions: client.getInstructions(),
    // Some servers demand a login only here.
    listTools: () => listTools(client, signal).catch(rethrow),
    listOffering: () => listOffering(client, signal),
    call: (name, args, options) => callTool(client, { name, arguments: args }, options),
    readResource: (uri, options) =>
      reached(() => client.readResource({ uri }, requestOptions(options))),
    getPrompt: (name, args, options) =>
      reached(() => client.getPrompt({ name, arguments: { ...args } }, requestOptions(options))),
    close: () => client.close(),
  };
}

/** Only for programs: a server elsewhere has no use for a path of this machine. */
function rootsOf({ workspace }: Pick<ConnectOptions, 'workspace'>): ListRootsResult {
  return { roots: [{ uri: pathToFileURL(workspace).href, name: basename(workspace) }] };
}

/** The SDK bounds `initialize`, but not the message after it, which a server behind a URL may leave unanswered. */
async function shakeHands(
  client: Client,
  transport: Transport,
  signal: AbortSignal,
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
  options: CallOptions,
): Promise<CallToolResult> {
  return await reached(async () => {
    const schema = CallToolResultSchema;
    // The SDK has parsed it by this schema; its type allows for others.
    return (await client.callTool(params, schema, requestOptions(options))) as CallToolResult;
  });
}

function requestOptions({ signal, onProgress }: CallOptions): RequestOptions {
  return { signal, timeout: NO_TIMEOUT, ...(onProgress && { onprogress: onProgress }) };
}

/** The longest time of a timer. The SDK's own timeout would run on while a person is asked. */
const NO_TIMEOUT = 2 ** 31 - 1;

/** What a server may not ask of its client. */
async function refuseRequest({ method }: { readonly method: string }): Promise<never> {
  const why = method === 'sampling/createMessage' ? NO_SAMPLING : 'This client does not know it.';
  throw new McpError(ErrorCode.MethodNotFound, why);
}

const NO_URL =
  'Drawbridge opens no address for a server: name it in the result, and the person can open it.';
const NO_SAMPLING =
  'Drawbridge does not let servers use its model: what they ask is no part of the conversation, and costs its owner.';

const BOUNDED_VALIDATOR: jsonSchemaValidator = {
  getValidator: <T>(schema: object) => {
    const check = schemaCheck({ ...schema });
    return (input: unknown) => {
      const errorMessage = check(input);
      return errorMessage === null
        ? { valid: true, data: input as T, errorMessage: undefined }
        : { valid: false, data: undefined, errorMessage };
    };
  },
};
