/** The one place that uses the MCP SDK as a client. */

import { resolve } from 'node:path';
import { UnauthorizedError } from '@modelcontextprotocol/sdk/client/auth.js';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { getDefaultEnvironment } from '@modelcontextprotocol/sdk/client/stdio.js';
import {
  StreamableHTTPClientTransport,
  StreamableHTTPError,
} from '@modelcontextprotocol/sdk/client/streamableHttp.js';
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
  McpError,
  type Prompt,
  type ReadResourceResult,
  type Resource,
  type ResourceTemplate,
  type Tool,
} from '@modelcontextprotocol/sdk/types.js';
import type { jsonSchemaValidator } from '@modelcontextprotocol/sdk/validation';
import type { Metadata } from '../../shared/documents.ts';
import { schemaCheck } from '../../shared/json-schema.ts';
import { boundedFetch } from './bounded-fetch.ts';
import { CallFailure, type CallOutcome } from './call-failure.ts';
import { confinedStart, type ServerSandbox } from './confined.ts';
import { MCP_LIMITS } from './limits.ts';
import { LoginNeeded, readLogin, storedLogin } from './login-file.ts';
import type { HttpConfig, ServerConfig, StdioConfig } from './server-list.ts';
import { StdioTransport } from './stdio-transport.ts';

export interface ConnectOptions {
  /** The folder that a server's `cwd` is relative to, and where it runs without one. Absolute. */
  readonly folder: string;
  /** Of the server's login, which may not be there. */
  readonly loginFile?: string;
  /** For servers that are to run in it. */
  readonly sandbox?: ServerSandbox | undefined;
  /** Takes what a stdio server writes to stderr. */
  readonly onStderr: (text: string) => void;
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
}

export interface CallOptions {
  /** Ends the call, at the server too. A call has no other limit of time. */
  readonly signal: AbortSignal;
  readonly onProgress: NonNullable<RequestOptions['onprogress']>;
}

/** What a server offers beside its tools, at most `MCP_LIMITS.maxTools` of each. */
export interface Offering {
  readonly resources: readonly Resource[];
  readonly templates: readonly ResourceTemplate[];
  readonly prompts: readonly Prompt[];
}

/** A server that has answered `initialize`. */
export interface Connection {
  /** Name and version, as the server gives them. */
  readonly about: string;
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
  const onChanged = { autoRefresh: false, onChanged: onToolsChanged };
  const client = new Client(
    { name: 'drawbridge', version: '0.1.0' },
    {
      // The SDK's default compiles a server's schemas to code, and no validator of it is bounded.
      jsonSchemaValidator: BOUNDED_VALIDATOR,
      capabilities: options.onElicit ? { elicitation: { form: {} } } : {},
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
      ? await httpTransport(config, options, onTooLong)
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
  const timeout = MCP_LIMITS.connectMs;
  try {
    await client.connect(transport, { signal, timeout });
  } catch (error) {
    const reason = failure ?? transport.endReason;
    await client.close();
    rethrow(reason === undefined ? error : new Error(reason, { cause: error }));
  }
  const { name, version } = client.getServerVersion() ?? { name: 'unknown', version: '' };
  return {
    about: `${name} ${version}`.trim(),
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
  return { signal, onprogress: onProgress, timeout: NO_TIMEOUT };
}

/** The longest time of a timer. The SDK's own timeout would run on while a person is asked. */
const NO_TIMEOUT = 2 ** 31 - 1;

/** Says of a failure whether the server was reached. */
async function reached<Result>(request: () => Promise<Result>): Promise<Result> {
  try {
    return await request();
  } catch (error) {
    const needed = isUnauthorized(error) ? new LoginNeeded('it demands a login') : error;
    const message = needed instanceof Error ? needed.message : String(needed);
    throw new CallFailure(outcomeOf(error), message, { cause: needed });
  }
}

type SomeTransport = Transport & Partial<Pick<StdioTransport, 'endReason'>>;

/** Without a login the server is asked all the same: most demand none. */
async function httpTransport(
  { url, headers }: HttpConfig,
  { loginFile = '' }: ConnectOptions,
  onTooLong: (reason: string) => void,
): Promise<SomeTransport> {
  const login = loginFile === '' ? undefined : await readLogin(loginFile, url);
  return new StreamableHTTPClientTransport(new URL(url), {
    ...{ requestInit: { headers }, fetch: boundedFetch(onTooLong) },
    ...(login && { authProvider: storedLogin(loginFile, login) }),
  });
}

function stdioTransport(
  config: StdioConfig,
  { folder, sandbox, onStderr }: ConnectOptions,
): SomeTransport {
  if (config.sandbox) return new StdioTransport(confinedStart(config, folder, sandbox), onStderr);
  const { command: file, args, env, cwd = '.' } = config;
  const launch = {
    ...{ file, args, cwd: resolve(folder, cwd), env: { ...getDefaultEnvironment(), ...env } },
    ...{ inputs: [], hasPidNamespace: false },
  };
  return new StdioTransport(async (spawn) => void spawn(launch), onStderr);
}

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

async function listTools(client: Client, signal: AbortSignal): Promise<Tool[]> {
  if (client.getServerCapabilities()?.tools === undefined) return [];
  return await allPages(signal, async (params, options) => {
    const { tools, nextCursor } = await client.listTools(params, options);
    return { items: tools, nextCursor };
  });
}

async function listOffering(client: Client, signal: AbortSignal): Promise<Offering> {
  const { resources, prompts } = client.getServerCapabilities() ?? {};
  /** A server that has tools but fails here stays useful. */
  const listed = <Item>(isThere: unknown, next: NextPage<Item>): Promise<Item[]> =>
    isThere === undefined ? Promise.resolve([]) : allPages(signal, next).catch(() => []);
  return {
    resources: await listed(resources, async (params, options) => {
      const { resources: items, nextCursor } = await client.listResources(params, options);
      return { items, nextCursor };
    }),
    templates: await listed(resources, async (params, options) => {
      const page = await client.listResourceTemplates(params, options);
      return { items: page.resourceTemplates, nextCursor: page.nextCursor };
    }),
    prompts: await listed(prompts, async (params, options) => {
      const { prompts: items, nextCursor } = await client.listPrompts(params, options);
      return { items, nextCursor };
    }),
  };
}

type NextPage<Item> = (
  params: { readonly cursor?: string },
  options: RequestOptions,
) => Promise<{ readonly items: readonly Item[]; readonly nextCursor: string | undefined }>;

/** The pages of a list, within one time and one number for all of them. */
async function allPages<Item>(signal: AbortSignal, next: NextPage<Item>): Promise<Item[]> {
  const limit = AbortSignal.any([signal, AbortSignal.timeout(MCP_LIMITS.listMs)]);
  const options = { signal: limit, timeout: MCP_LIMITS.listMs };
  const all: Item[] = [];
  let cursor: string | undefined;
  for (let page = 0; page < MCP_LIMITS.maxPages; page++) {
    const { items, nextCursor } = await next(cursor === undefined ? {} : { cursor }, options);
    all.push(...items.slice(0, MCP_LIMITS.maxTools - all.length));
    cursor = nextCursor;
    if (cursor === undefined || all.length >= MCP_LIMITS.maxTools) break;
  }
  return all;
}

function outcomeOf(error: unknown): CallOutcome {
  if (error instanceof McpError && error.code === ErrorCode.RequestTimeout) return 'timeout';
  if (error instanceof McpError && error.code !== ErrorCode.ConnectionClosed) return 'answered';
  if (isUnauthorized(error)) return 'refused';
  if (error instanceof StreamableHTTPError) return isClientError(error.code) ? 'refused' : 'lost';
  return isNotConnected(error) ? 'refused' : 'lost';
}

/** Says where a login is needed. */
function rethrow(error: unknown): never {
  throw isUnauthorized(error) ? new LoginNeeded('it demands a login', { cause: error }) : error;
}

function isUnauthorized(error: unknown): boolean {
  if (error instanceof UnauthorizedError || error instanceof LoginNeeded) return true;
  return error instanceof StreamableHTTPError && error.code === 401;
}

function isClientError(status = 0): boolean {
  return status >= 400 && status < 500;
}

/** `fetch` tells the reason as its error's cause. */
function isNotConnected(error: unknown): boolean {
  const { cause } = Object(error);
  return ['ECONNREFUSED', 'ENOTFOUND'].includes(String(Object(cause).code));
}
