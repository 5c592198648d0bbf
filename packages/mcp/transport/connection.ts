/** The one place that uses the MCP SDK as a client. */

import { addAbortListener } from 'node:events';
import { basename } from 'node:path';
import { pathToFileURL } from 'node:url';
import {
  type CallToolResult,
  Client,
  type ElicitRequestFormParams,
  type ElicitResult,
  type GetPromptResult,
  type jsonSchemaValidator,
  type ListRootsResult,
  ProtocolError,
  ProtocolErrorCode,
  type ReadResourceResult,
  type RequestOptions,
  type Tool,
  type VersionNegotiationMode,
} from '@modelcontextprotocol/client';
import { schemaCheck } from '../../../shared/text/json-schema.ts';
import type { Metadata } from '../../../shared/wire/documents.ts';
import { MCP_LIMITS } from '../limits.ts';
import { takePlainResults } from '../plain-results.ts';
import type { ServerConfig } from '../server-list.ts';
import { faultOfHeaders } from './header-rule.ts';
import { listOffering, listTools, type Offering } from './lists.ts';
import { isOutdated, otherEraAfter, reached, rethrow } from './sdk-errors.ts';
import {
  type HttpOptions,
  httpTransport,
  type SomeTransport,
  type StdioOptions,
  stdioTransport,
} from './transports.ts';
import { withVariables } from './variables.ts';

export interface ConnectOptions extends StdioOptions, Omit<HttpOptions, 'onTooLong'> {
  /** The list of tools, of resources or of prompts has changed. */
  readonly onToolsChanged: () => void;
  /** A tool of the list breaks a rule of the protocol, and is left out. */
  readonly onRefusedTool?: (name: string, why: string) => void;
  /** The server asks a person something. Without this the server learns that no person can be asked. */
  readonly onElicit?: (
    params: ElicitRequestFormParams,
    signal: AbortSignal,
  ) => Promise<ElicitResult>;
  /** The connection is over: by the server, by an error, or by {@link Connection.close}. Called once, with the reason. */
  readonly onClosed: (reason: string) => void;
  readonly signal: AbortSignal;
  /** The server speaks no version after 2025: it is not asked for one. */
  readonly isOld?: boolean;
  /** Takes notifications that MCP does not define, unchecked. */
  readonly onNotification?: (method: string, params: unknown) => void;
}

export interface CallOptions {
  /** Ends the call, at the server too. A call has no other limit of time. */
  readonly signal: AbortSignal;
  readonly onProgress?: NonNullable<RequestOptions['onprogress']>;
}

/** A server that has said what it is. */
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
  readonly call: (
    tool: Pick<Tool, 'name'> & Partial<Tool>,
    args: Metadata,
    options: CallOptions,
  ) => Promise<CallToolResult>;
  readonly readResource: (uri: string, options: CallOptions) => Promise<ReadResourceResult>;
  readonly getPrompt: (
    name: string,
    args: Readonly<Record<string, string>>,
    options: CallOptions,
  ) => Promise<GetPromptResult>;
  /** Ends a stdio server: first by the end of its input, then by signals. */
  readonly close: () => Promise<void>;
}

/**
 * Rejects when the server cannot be started, or does not answer in time. Servers of all versions are understood: where
 * the first question leaves open which one it is, a second connection decides.
 */
export async function connectServer(
  listed: ServerConfig,
  options: ConnectOptions,
): Promise<Connection> {
  const config = withVariables(listed, options);
  try {
    return await connectOnce(config, options, options.isOld ? 'legacy' : 'auto');
  } catch (error) {
    const { cause } = Object(error);
    const era = otherEraAfter(cause, 'command' in config);
    if (options.isOld || era === undefined || options.signal.aborted) return failStart(error);
    const mode = era === 'legacy' ? era : { pin: NEWEST };
    return await connectOnce(config, options, mode).catch(failStart);
  }
}

/** Throws what the person can use: the reason that the transport knows, before the SDK's own. */
function failStart(error: unknown): never {
  if (!(error instanceof FailedStart)) throw error;
  const { reason, cause } = error;
  rethrow(reason === undefined ? cause : new Error(reason, { cause }));
}

const NEWEST = '2026-07-28';

/** Rejects with an error of the SDK, or with a {@link FailedStart}. */
async function connectOnce(
  config: ServerConfig,
  options: ConnectOptions,
  mode: VersionNegotiationMode,
): Promise<Connection> {
  const { signal, onClosed } = options;
  const client = newClient(config, options, mode);
  let failure: string | undefined;
  const onTooLong = (reason: string) => {
    failure ??= reason;
    void client.close();
  };
  const transport =
    'url' in config
      ? await httpTransport(config, { ...options, onTooLong })
      : stdioTransport(config, options);
  let isOpen = false;
  client.onclose = () => {
    if (isOpen) onClosed(failure ?? transport.endReason ?? 'it ended');
  };
  await shakeHands(client, transport, signal).catch((error: unknown) => {
    throw new FailedStart(failure ?? transport.endReason, error);
  });
  takePlainResults(transport);
  isOpen = true;
  const { name, version } = client.getServerVersion() ?? { name: 'unknown', version: '' };
  return {
    about: `${name} ${version}`.trim(),
    serverName: name,
    instructions: client.getInstructions(),
    // Some servers demand a login only here.
    listTools: async () => {
      const tools = await listTools(client, signal).catch(rethrow);
      const hasHeaders = 'url' in config && client.getProtocolEra() === 'modern';
      if (!hasHeaders) return tools;
      return tools.filter(({ name: tool, inputSchema }) => {
        const fault = faultOfHeaders(inputSchema);
        if (fault !== null) options.onRefusedTool?.(tool, fault);
        return fault === null;
      });
    },
    listOffering: () => listOffering(client, signal),
    call: (tool, args, given) =>
      reached(async () => {
        const called = { name: tool.name, arguments: args };
        return await client.callTool(called, callOptions(tool, given)).catch((error: unknown) => {
          if (isOutdated(error)) options.onToolsChanged();
          throw error;
        });
      }),
    readResource: (uri, given) =>
      reached(() => client.readResource({ uri }, requestOptions(given))),
    getPrompt: (name, args, given) =>
      reached(() => client.getPrompt({ name, arguments: { ...args } }, requestOptions(given))),
    close: () => client.close(),
  };
}

/** `reason` is what the transport knows of its end. The error is the SDK's. */
class FailedStart extends Error {
  readonly reason: string | undefined;

  constructor(reason: string | undefined, cause: unknown) {
    super('The server did not start.', { cause });
    this.reason = reason;
  }
}

function newClient(
  config: ServerConfig,
  options: ConnectOptions,
  mode: VersionNegotiationMode,
): Client {
  const isProgram = 'command' in config;
  const { onElicit, onToolsChanged } = options;
  const onChanged = { autoRefresh: false, onChanged: onToolsChanged };
  const client = new Client(
    { name: 'drawbridge', version: '0.1.0' },
    {
      versionNegotiation: {
        mode,
        // A program that says nothing to the new question has never heard of it. An address may be slow.
        probe: { timeoutMs: isProgram ? MCP_LIMITS.probeMs : MCP_LIMITS.connectMs },
      },
      // The SDK's default compiles a server's schemas to code, and no validator of it is bounded.
      jsonSchemaValidator: BOUNDED_VALIDATOR,
      capabilities: {
        ...(onElicit && { elicitation: { form: {} } }),
        ...(isProgram && { roots: {} }),
      },
      listChanged: { tools: onChanged, resources: onChanged, prompts: onChanged },
    },
  );
  // A notification that is wrong does not end the connection.
  client.onerror = () => {};
  client.fallbackRequestHandler = refuseRequest;
  if (isProgram) client.setRequestHandler('roots/list', () => rootsOf(options));
  if (onElicit) {
    client.setRequestHandler('elicitation/create', async ({ params }, { mcpReq }) => {
      if ('requestedSchema' in params) return await onElicit(params, mcpReq.signal);
      throw new ProtocolError(ProtocolErrorCode.InvalidParams, NO_URL);
    });
  }
  client.fallbackNotificationHandler = async ({ method, params }) =>
    options.onNotification?.(method, params);
  return client;
}

/** Only for programs: a server elsewhere has no use for a path of this machine. */
function rootsOf({ workspace }: Pick<ConnectOptions, 'workspace'>): ListRootsResult {
  return { roots: [{ uri: pathToFileURL(workspace).href, name: basename(workspace) }] };
}

/** The SDK bounds its questions, but not the message after them, which a server behind a URL may leave unanswered. */
async function shakeHands(
  client: Client,
  transport: SomeTransport,
  signal: AbortSignal,
): Promise<void> {
  const timeout = MCP_LIMITS.connectMs;
  // Before the client has the transport, closing the client would not reach it.
  const end = () => void Promise.all([client.close(), transport.close()]);
  const timer = setTimeout(end, 2 * timeout);
  using _ending = addAbortListener(signal, end);
  try {
    await client.connect(transport, { signal, timeout });
  } catch (error) {
    await client.close();
    await transport.close();
    throw error;
  } finally {
    clearTimeout(timer);
  }
}

/** With the tool's definition, since the SDK has not kept the list that it is from. */
function callOptions(tool: Partial<Tool>, options: CallOptions) {
  const { name, inputSchema } = tool;
  const isListed = name !== undefined && inputSchema !== undefined;
  const toolDefinition = isListed ? { ...tool, name, inputSchema } : undefined;
  return { ...requestOptions(options), ...(toolDefinition && { toolDefinition }) };
}

function requestOptions({ signal, onProgress }: CallOptions): RequestOptions {
  return { signal, timeout: NO_TIMEOUT, ...(onProgress && { onprogress: onProgress }) };
}

/** The longest time of a timer. The SDK's own timeout would run on while a person is asked. */
const NO_TIMEOUT = 2 ** 31 - 1;

/** What a server may not ask of its client. */
async function refuseRequest({ method }: { readonly method: string }): Promise<never> {
  const why = method === 'sampling/createMessage' ? NO_SAMPLING : 'This client does not know it.';
  throw new ProtocolError(ProtocolErrorCode.MethodNotFound, why);
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
