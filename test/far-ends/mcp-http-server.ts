/** An MCP server behind streamable HTTP, as a test's far end. */
import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type ServerResponse,
} from 'node:http';
import type { AddressInfo } from 'node:net';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import * as z from 'zod';
import type { OAuthServer } from './oauth-server.ts';

export interface HttpMcpServer {
  readonly url: string;
  /** Headers of every request so far. */
  readonly headers: readonly IncomingHttpHeaders[];
  /** Forgets every session, as a server does that was started again. */
  readonly forget: () => void;
  readonly close: () => Promise<void>;
}

/** The authorization server whose tokens are demanded. */
export interface DemandedLogin extends Pick<OAuthServer, 'url' | 'isValid'> {
  /** What a client without a token is told to ask for. */
  scope?: string;
  /** What every token lacks. */
  lacks?: string;
}

/** `port` 0 takes a free one. With `oauth` it lets in only those with a token of that server. */
export async function startHttpMcpServer(port = 0, oauth?: DemandedLogin): Promise<HttpMcpServer> {
  const sessions = new Map<string, StreamableHTTPServerTransport>();
  const headers: IncomingHttpHeaders[] = [];
  const http = createServer(async (request, response) => {
    headers.push(request.headers);
    if (oauth && demandsLogin(request, response, oauth)) return;
    const known = sessions.get(String(request.headers['mcp-session-id']));
    if (!known && request.headers['mcp-session-id'] !== undefined) {
      response.writeHead(404).end();
      return;
    }
    const transport =
      known ??
      new StreamableHTTPServerTransport({
        sessionIdGenerator: () => crypto.randomUUID(),
        onsessioninitialized: (id) => void sessions.set(id, transport),
      });
    if (!known) await newServer().connect(transport);
    await transport.handleRequest(request, response);
  });
  await new Promise<void>((resolve) => http.listen(port, '127.0.0.1', resolve));
  const { port: taken } = http.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${taken}/mcp`,
    headers,
    forget: () => sessions.clear(),
    close: async () => {
      http.closeAllConnections();
      await new Promise((resolve) => http.close(resolve));
    },
  };
}

/** Answers a request without a token, and one for the address of the authorization server. */
function demandsLogin(
  { url = '/', headers }: IncomingMessage,
  response: ServerResponse,
  oauth: DemandedLogin,
): boolean {
  const here = `http://${headers.host}`;
  const metadata = '/.well-known/oauth-protected-resource/mcp';
  if (url === metadata) {
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ resource: `${here}/mcp`, authorization_servers: [oauth.url] }));
    return true;
  }
  const isValid = oauth.isValid(headers.authorization);
  if (isValid && oauth.lacks === undefined) return false;
  const wanted = isValid ? oauth.lacks : oauth.scope;
  const scope = wanted === undefined ? '' : `, scope="${wanted}"`;
  const error = isValid ? ', error="insufficient_scope"' : '';
  const challenge = `Bearer resource_metadata="${here}${metadata}"${scope}${error}`;
  response.writeHead(isValid ? 403 : 401, { 'www-authenticate': challenge }).end();
  return true;
}

function newServer(): McpServer {
  const server = new McpServer({ name: 'far', version: '1' });
  server.registerTool(
    'shout',
    { description: 'Says it louder.', inputSchema: { words: z.string() } },
    ({ words }) => ({ content: [{ type: 'text', text: words.toUpperCase() }] }),
  );
  server.registerTool(
    'print',
    { description: 'Returns much.', inputSchema: { bytes: z.number() } },
    ({ bytes }) => ({ content: [{ type: 'text', text: 'x'.repeat(bytes) }] }),
  );
  return server;
}
