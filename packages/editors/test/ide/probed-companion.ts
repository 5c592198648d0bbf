/** A companion at the far end of a test, made of the MCP SDK's server. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import { portOf } from '../../../../test/far-ends/listening.ts';

const LOOPBACK = '127.0.0.1';

export interface ProbedCompanion {
  readonly port: number;
  /** Methods and paths of HTTP, and methods of the protocol, as they came. */
  readonly asked: readonly string[];
}

interface CompanionOptions {
  readonly token?: string;
  readonly tools?: readonly string[];
  /** Where it listens; its host header names 127.0.0.1 all the same. */
  readonly address?: string;
  /** Answers with plain JSON instead of an event stream. */
  readonly isPlain?: boolean;
}

export async function startCompanion({
  token,
  tools = ['openDiff', 'closeDiff'],
  isPlain = false,
  address = LOOPBACK,
}: CompanionOptions = {}): Promise<ProbedCompanion> {
  const sessions = new Map<string, StreamableHTTPServerTransport>();
  const asked: string[] = [];
  const port = await serve(async (request, response) => {
    const body = await readBody(request);
    asked.push(`${request.method} ${Object(body).method ?? ''}`.trim());
    const refused = refusalOf(request, port, token);
    if (refused !== undefined) return void response.writeHead(refused).end('no');
    const id = request.headers['mcp-session-id'];
    const known = sessions.get(String(id));
    if (!known && Object(body).method !== 'initialize')
      return void response.writeHead(400).end('no session');
    const transport =
      known ??
      new StreamableHTTPServerTransport({
        sessionIdGenerator: () => crypto.randomUUID(),
        enableJsonResponse: isPlain,
        onsessioninitialized: (id) => void sessions.set(id, transport),
      });
    if (!known) await newServer(tools).connect(transport);
    await transport.handleRequest(request, response, body);
  }, address);
  return { port, asked };
}

function refusalOf(
  { headers }: IncomingMessage,
  port: number,
  token: string | undefined,
): number | undefined {
  if (headers.host !== `${LOOPBACK}:${port}` || headers.origin !== undefined) return 403;
  return token === undefined || headers.authorization === `Bearer ${token}` ? undefined : 401;
}

function newServer(tools: readonly string[]): McpServer {
  const server = new McpServer({ name: 'an-editor', version: '1.2.3' });
  for (const name of tools) server.registerTool(name, {}, () => ({ content: [] }));
  return server;
}

async function readBody(request: IncomingMessage): Promise<unknown> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  const text = Buffer.concat(chunks).toString();
  return text === '' ? undefined : JSON.parse(text);
}

/** Serves HTTP until the test ends; returns the port. */
export async function serve(
  handle: (request: IncomingMessage, response: ServerResponse) => unknown,
  address = LOOPBACK,
): Promise<number> {
  const server = createServer((request, response) => void handle(request, response));
  return await portOf(server, address);
}
