/** An editor's companion as a test's far end: the MCP SDK's server behind a script of what it does otherwise. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js';
import * as z from 'zod';
import type { Candidate } from '../../packages/editors/ide/discovery/candidate.ts';

/** What of the protocol a request is: its method, for a call the tool's name, `stream` for the event stream. */
export type Step =
  | 'initialize'
  | 'initialized'
  | 'stream'
  | 'tools/list'
  | 'openDiff'
  | 'closeDiff'
  | 'getDiagnostics';

export interface CompanionScript {
  readonly port?: number;
  readonly serverName?: string;
  /** Null asks for none, as the oldest companions. */
  readonly token?: string | null;
  /** Of MCP, whatever the client asks for. */
  readonly protocol?: string;
  readonly tools?: readonly string[];
  /** The text of a result of `openDiff`; without it the result is empty. */
  readonly openDiffText?: string;
  readonly refusesDiffs?: boolean;
  readonly closeDiffForm?: 'json' | 'text';
  readonly rejection?: 'ide/diffRejected' | 'ide/diffClosed';
  /** The answer to `getDiagnostics`, which the companion then has besides `tools`. Throws for a refusal. */
  readonly diagnose?: (uri: string) => CallToolResult;
  /** Sent when the event stream opens. */
  readonly firstContext?: object;
  /** Only the newest session gets answers, as with the companions that share one server among all sessions. */
  readonly isShared?: boolean;
  /** The status for an unknown session. */
  readonly unknownSession?: 400 | 404;
}

export interface ScriptedCompanion {
  readonly candidate: Candidate;
  /** Open diffs: the text that each shows, by path. */
  readonly diffs: Map<string, string>;
  /** Every call of a tool so far. */
  readonly calls: readonly { readonly tool: string; readonly args: Record<string, unknown> }[];
  readonly requests: readonly IncomingMessage[];
  /** What each request was. */
  readonly steps: readonly string[];
  /** The number of event streams that are open. */
  readonly streams: () => number;
  /** The number of sessions so far. */
  readonly sessions: () => number;
  /** Requests of these steps are never answered. */
  readonly hanging: Set<Step>;
  /** Requests of these steps wait for it. */
  readonly held: Map<Step, Promise<void>>;
  /** Requests of these steps are answered with a status alone. */
  readonly statuses: Map<Step, number>;
  /** To every session, unchecked. */
  readonly notify: (method: string, params?: unknown) => Promise<void>;
  /** Asks every client for an answer to `ping`. */
  readonly askPing: () => Promise<unknown>;
  readonly accept: (path: string, content?: string) => Promise<void>;
  readonly reject: (path: string) => Promise<void>;
  readonly dropStreams: () => void;
  /** Forgets all sessions, as after a restart on the same port. */
  readonly forget: () => void;
  readonly close: () => Promise<void>;
}

interface Session {
  readonly server: McpServer;
  readonly transport: StreamableHTTPServerTransport;
}

export async function startCompanion(script: CompanionScript = {}): Promise<ScriptedCompanion> {
  const { token = 'secret-of-this-window', unknownSession = 400 } = script;
  const sessions = new Map<string, Session>();
  const requests: IncomingMessage[] = [];
  const steps: string[] = [];
  const held = new Map<Step, Promise<void>>();
  const streams = new Set<ServerResponse>();
  const diffs = new Map<string, string>();
  const calls: { tool: string; args: Record<string, unknown> }[] = [];
  const hanging = new Set<Step>();
  const statuses = new Map<Step, number>();
  let begun = 0;
  let newest = '';

  const http = createServer((request, response) => void handle(request, response));
  await new Promise<void>((resolve) => http.listen(script.port ?? 0, '127.0.0.1', resolve));
  const { port } = http.address() as AddressInfo;
  const hosts = [`127.0.0.1:${port}`, `localhost:${port}`];

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    requests.push(request);
    const { host = '', origin, authorization } = request.headers;
    const body = request.method === 'POST' ? await bodyOf(request) : undefined;
    if (!hosts.includes(host) || origin !== undefined) return refuse(response, 403);
    if (token !== null && authorization !== `Bearer ${token}`) return refuse(response, 401);
    const step = stepOf(request, body);
    steps.push(step);
    await held.get(step);
    const status = statuses.get(step);
    if (status !== undefined) return refuse(response, status);
    if (hanging.has(step)) return;
    const id = String(request.headers['mcp-session-id'] ?? '');
    const session = step === 'initialize' ? await begin() : sessions.get(id);
    if (!session) return refuse(response, unknownSession);
    const isCut = script.isShared && id !== newest && step !== 'initialize' && step !== 'stream';
    if (isCut && step !== 'initialized') return;
    if (step === 'stream') open(response, session);
    if (step === 'initialize' && script.protocol) askFor(body, script.protocol);
    await session.transport.handleRequest(request, response, body);
  }

  function open(response: ServerResponse, { transport }: Session): void {
    streams.add(response);
    response.once('close', () => streams.delete(response));
    const { firstContext: params } = script;
    if (params === undefined) return;
    // The stream is open once its headers are out; before, the transport drops what it should send.
    const send = () =>
      transport.send({ jsonrpc: '2.0', method: 'ide/contextUpdate', params: { ...params } });
    setTimeout(() => void send(), 20);
  }

  async function begin(): Promise<Session> {
    begun++;
    const server = newServer();
    const transport: StreamableHTTPServerTransport = new StreamableHTTPServerTransport({
      sessionIdGenerator: () => crypto.randomUUID(),
      onsessioninitialized: (id) => {
        newest = id;
        sessions.set(id, session);
      },
    });
    const session = { server, transport };
    await server.connect(transport);
    return session;
  }

  function newServer(): McpServer {
    const { serverName = 'gemini-cli-companion-mcp-server', tools = ['openDiff', 'closeDiff'] } =
      script;
    const server = new McpServer({ name: serverName, version: '1.0.0' });
    const inputSchema = {
      filePath: z.string(),
      newContent: z.string().optional(),
      suppressNotification: z.boolean().optional(),
    };
    for (const tool of tools) {
      server.registerTool(tool, { description: tool, inputSchema }, (args) => {
        calls.push({ tool, args });
        return tool === 'openDiff' ? openDiff(args) : closeDiff(args);
      });
    }
    const { diagnose } = script;
    if (!diagnose) return server;
    const ofFile = { description: 'diagnose', inputSchema: { uri: z.string() } };
    server.registerTool('getDiagnostics', ofFile, (args) => {
      calls.push({ tool: 'getDiagnostics', args });
      return diagnose(args.uri);
    });
    return server;
  }

  function openDiff({ filePath, newContent = '' }: DiffArgs): CallToolResult {
    if (script.refusesDiffs) return { ...textResult('no room on the screen'), isError: true };
    diffs.set(filePath, newContent);
    const { openDiffText } = script;
    return openDiffText === undefined ? { content: [] } : textResult(openDiffText);
  }

  function closeDiff({ filePath }: DiffArgs): CallToolResult {
    const content = diffs.get(filePath);
    diffs.delete(filePath);
    if (script.closeDiffForm === 'text')
      return content === undefined ? { content: [] } : textResult(content);
    return textResult(JSON.stringify({ content }));
  }

  const notify = async (method: string, params?: unknown) => {
    const message = { jsonrpc: '2.0' as const, method, ...(params !== undefined && { params }) };
    await Promise.all(
      [...sessions.values()].map(({ transport }) => transport.send(message as never)),
    );
  };

  return {
    candidate: {
      family: 'gemini',
      source: `companion on ${port}`,
      port,
      roots: undefined,
      pid: process.pid,
      ...(token !== null && { token }),
    },
    diffs,
    calls,
    requests,
    steps,
    hanging,
    held,
    statuses,
    notify,
    streams: () => streams.size,
    sessions: () => begun,
    askPing: async () =>
      await Promise.all([...sessions.values()].map(({ server }) => server.server.ping())),
    accept: async (path, content = diffs.get(path)) => {
      diffs.delete(path);
      await notify('ide/diffAccepted', { filePath: path, content });
    },
    reject: async (path) => {
      diffs.delete(path);
      await notify(script.rejection ?? 'ide/diffRejected', { filePath: path });
    },
    dropStreams: () => {
      for (const stream of streams) stream.destroy();
    },
    forget: () => {
      sessions.clear();
      for (const stream of streams) stream.end();
    },
    close: async () => {
      http.closeAllConnections();
      await new Promise((resolve) => http.close(resolve));
    },
  };
}

interface DiffArgs {
  readonly filePath: string;
  readonly newContent?: string | undefined;
}

async function bodyOf(request: IncomingMessage): Promise<unknown> {
  let text = '';
  for await (const chunk of request) text += chunk;
  return JSON.parse(text);
}

/** Makes the SDK's server answer with this version: it answers with the one that is asked for. */
function askFor(body: unknown, protocolVersion: string): void {
  Object.assign(Object(Object(body).params), { protocolVersion });
}

const Message = z.object({
  method: z.string(),
  params: z.object({ name: z.string().optional() }).optional(),
});

function stepOf({ method }: IncomingMessage, body: unknown): Step {
  if (method === 'GET') return 'stream';
  const message = Message.safeParse(body).data;
  const name = message?.method === 'tools/call' ? message.params?.name : message?.method;
  return name?.replace('notifications/', '') as Step;
}

function refuse(response: ServerResponse, status: number): void {
  response.writeHead(status).end(`refused with ${status}`);
}

/** A result of texts. */
export function textResult(...texts: string[]): CallToolResult {
  return { content: texts.map((text) => ({ type: 'text', text })) };
}
