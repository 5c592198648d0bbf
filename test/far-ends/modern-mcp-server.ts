/** An MCP server that speaks version 2026-07-28 alone: on stdio where it is run, else behind streamable HTTP. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import {
  acceptedContent,
  createMcpHandler,
  inputRequired,
  McpServer,
} from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import * as z from 'zod';

const text = (said: string) => ({ content: [{ type: 'text' as const, text: said }] });

function newServer(onWait: () => void = () => {}): McpServer {
  const server = new McpServer({ name: 'modern', version: '1' }, { instructions: 'Be new.' });
  server.registerTool(
    'echo',
    { description: 'Says it again.', inputSchema: z.object({ words: z.string() }) },
    ({ words }) => text(words),
  );
  server.registerTool('wait', { description: 'Never ends.' }, async ({ mcpReq }) => {
    const params = { progressToken: mcpReq._meta?.progressToken ?? 0, progress: 1 };
    await mcpReq.notify({ method: 'notifications/progress', params });
    onWait();
    return await new Promise<never>(() => {});
  });
  server.registerTool('roots', { description: 'What it may work on.' }, async ({ mcpReq }) => {
    const { roots } = mcpReq.inputResponses ?? {};
    if (roots !== undefined) return text(JSON.stringify(roots));
    return inputRequired({ inputRequests: { roots: inputRequired.listRoots() } });
  });
  server.registerTool('book', { description: 'Asks for details.' }, ({ mcpReq }) => {
    const requestedSchema = z.object({ meal: z.boolean() });
    const given = acceptedContent(mcpReq.inputResponses, 'meal', requestedSchema);
    if (given !== undefined) return text(JSON.stringify(given));
    const asked = inputRequired.elicit({ message: 'A meal?', requestedSchema });
    return inputRequired({ inputRequests: { meal: asked } });
  });
  return server;
}

export interface ModernMcpServer extends AsyncDisposable {
  readonly url: string;
  /** Breaks the stream of every answer. */
  readonly breakStreams: () => void;
}

/** `onWait` hears of each call of `wait`. */
export async function startModernMcpServer(onWait: () => void): Promise<ModernMcpServer> {
  const handler = createMcpHandler(() => newServer(onWait), { legacy: 'reject' });
  const http = createServer(async (request, response) => {
    const url = `http://${request.headers.host}${request.url}`;
    const headers = request.headers as Record<string, string>;
    const hasBody = request.method === 'POST';
    const body = hasBody ? { body: Readable.toWeb(request) as ReadableStream, duplex: 'half' } : {};
    const answer = await handler.fetch(
      new Request(url, { method: request.method, headers, ...body } as RequestInit),
    );
    response.writeHead(answer.status, Object.fromEntries(answer.headers));
    response.flushHeaders();
    if (answer.body === null) return void response.end();
    Readable.fromWeb(answer.body as never).pipe(response);
  });
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve));
  const { port } = http.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/mcp`,
    breakStreams: () => http.closeAllConnections(),
    [Symbol.asyncDispose]: async () => {
      http.closeAllConnections();
      await new Promise((resolve) => http.close(resolve));
    },
  };
}

if (import.meta.main) serveStdio(() => newServer(), { legacy: 'reject' });
