/** A scripted OpenAI-compatible server on a real port: the far end of the flow tests. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { framesOf, type ScriptedReply, type ScriptedRequest } from './reply-script.ts';

export type ScriptedAnswer =
  | (ScriptedReply & {
      /** Between two frames. */
      readonly delayMs?: number;
      /** Sent instead of the reply's own frames. */
      readonly frames?: readonly string[];
      /** After the frames the connection stays open and silent. */
      readonly hangs?: boolean;
    })
  | { readonly status: number; readonly body: string; readonly headers?: Record<string, string> };

export interface ScriptedModel {
  readonly baseUrl: string;
  /** Every request so far, in order. */
  readonly requests: readonly ScriptedRequest[];
  /** Requests whose connection was closed before their answer was complete. */
  readonly aborted: () => number;
  close(): Promise<void>;
}

/** `script` decides each answer from the request and its number, counted from 0. */
export async function startScriptedModel(
  script: (request: ScriptedRequest, number: number) => ScriptedAnswer,
): Promise<ScriptedModel> {
  const requests: ScriptedRequest[] = [];
  let aborted = 0;
  const server = createServer(async (request, response) => {
    response.on('close', () => {
      if (!response.writableEnded) aborted++;
    });
    if (request.method === 'GET') return void response.end(MODELS);
    const text = await readBody(request).catch(() => null);
    if (text === null) return; // The runtime was killed while it sent the request.
    const body = JSON.parse(text) as ScriptedRequest;
    requests.push(body);
    await answer(response, script(body, requests.length - 1));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    baseUrl: `http://127.0.0.1:${port}/v1`,
    requests,
    aborted: () => aborted,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/** Answers `GET models`. */
const MODELS = JSON.stringify({ object: 'list', data: [{ id: 'scripted', object: 'model' }] });

async function answer(response: ServerResponse, scripted: ScriptedAnswer): Promise<void> {
  if ('status' in scripted) {
    response.writeHead(scripted.status, {
      'content-type': 'application/json',
      ...scripted.headers,
    });
    response.end(scripted.body);
    return;
  }
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  for (const frame of scripted.frames ?? framesOf(scripted)) {
    if (response.destroyed) return;
    response.write(frame);
    if (scripted.delayMs) await new Promise((resolve) => setTimeout(resolve, scripted.delayMs));
  }
  if (!scripted.hangs) response.end();
}

async function readBody(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString('utf8');
}
