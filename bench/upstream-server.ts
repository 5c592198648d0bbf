/** The server of every scripted upstream, in its own process. It sends its parent the port, and the parent ends it. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { report } from './upstream-reports.ts';

/** Answers a request, given its parsed body. The response has already begun as an event stream. */
export type UpstreamScript = (request: unknown, response: ServerResponse) => void | Promise<void>;

/** Serves until the parent process disconnects. */
export function serveUpstream(script: UpstreamScript): void {
  const server = createServer((request, response) => {
    answer(script, request, response).catch((error: unknown) => {
      console.error('The upstream failed:', error);
      response.destroy();
    });
  });
  server.listen(0, '127.0.0.1', () => {
    report({ type: 'listening', port: (server.address() as AddressInfo).port });
  });
  process.once('disconnect', () => process.exit());
}

async function answer(
  script: UpstreamScript,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const body: unknown = JSON.parse(await readBody(request));
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  await script(body, response);
}

async function readBody(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString('utf8');
}
