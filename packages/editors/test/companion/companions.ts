/** A companion with a scripted editor, and the real MCP client as its CLI. */
import { mkdirSync } from 'node:fs';
import { type IncomingMessage, type RequestOptions, request } from 'node:http';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { onTestFinished } from 'vitest';
import { newDeferred } from '../../../../machine/deferred.ts';
import { temporaryFolder } from '../../../../test/local/temporary-folder.ts';
import type { GuestFamily } from '../../companion/discovery.ts';
import {
  CompanionServer,
  type DiffOutcome,
  type OwnCompanionOptions,
  type ProposedDiff,
} from '../../companion/index.ts';

/** A diff as the editor shows it. */
export interface Shown extends ProposedDiff {
  readonly signal: AbortSignal;
  readonly answer: (outcome: DiffOutcome) => void;
}

/** Folders of one person's machine. */
export function newPlace() {
  const home = temporaryFolder();
  const temporary = join(home, 'tmp');
  mkdirSync(temporary);
  return { qwenFolder: join(home, '.qwen'), temporaryFolder: temporary, processId: process.pid };
}

export async function startCompanion(options: Partial<OwnCompanionOptions> = {}) {
  const discovery = { ...newPlace(), ...options.discovery };
  const root = temporaryFolder();
  const shown: Shown[] = [];
  const guests: string[] = [];
  const companion = await CompanionServer.start({
    roots: [root],
    ide: { name: 'vim', displayName: 'Vim' },
    onDiff: (diff, signal) => {
      const { promise, resolve } = newDeferred<DiffOutcome>();
      shown.push({ ...diff, signal, answer: resolve });
      return promise;
    },
    onGuest: ({ program }, change) => guests.push(`${program} ${change}`),
    ...options,
    discovery,
  });
  onTestFinished(() => companion.close());
  return { companion, discovery, root, shown, guests };
}

/** The key that a family's CLI reads in its file. */
export function tokenOf(companion: CompanionServer, family: GuestFamily): string {
  const folder = family === 'gemini' ? 'gemini' : '.qwen';
  const [, file = '{}'] =
    Object.entries(companion.discoveryFiles).find(([path]) => path.includes(folder)) ?? [];
  return JSON.parse(file).authToken;
}

interface ConnectOptions {
  readonly family?: GuestFamily;
  readonly client?: { readonly name: string; readonly version: string };
}

export function connect(
  companion: CompanionServer,
  { family = 'gemini', client }: ConnectOptions = {},
) {
  return connectTo(companion.port, tokenOf(companion, family), client);
}

export async function connectTo(
  port: number,
  token: string,
  about = { name: 'test', version: '1' },
) {
  const client = new Client(about);
  const heard: { method: string; params?: unknown }[] = [];
  client.fallbackNotificationHandler = async ({ method, params }) => {
    heard.push({ method, params });
  };
  const transport = new StreamableHTTPClientTransport(new URL(`http://127.0.0.1:${port}/mcp`), {
    requestInit: { headers: { authorization: `Bearer ${token}` } },
  });
  await client.connect(transport);
  onTestFinished(() => client.close());
  const call = (name: string, args: Record<string, unknown>) =>
    client.callTool({ name, arguments: args });
  return { client, transport, heard, call };
}

export interface Answer {
  readonly status: number;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}

/** A request as it is written. `send` undefined: the head is sent, and the body never. */
export async function rawRequest(
  port: number,
  { headers = {}, ...options }: RequestOptions,
  send: string | Buffer | undefined = '',
): Promise<Answer> {
  const response = await openRequest(port, { headers, ...options }, send);
  return {
    status: response.statusCode ?? 0,
    headers: response.headers,
    body: await text(response),
  };
}

/** Resolves with the head of the answer. */
export function openRequest(
  port: number,
  options: RequestOptions,
  send: string | Buffer | undefined = '',
): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const sent = request({ host: '127.0.0.1', port, path: '/mcp', ...options }, resolve);
    sent.on('error', reject);
    onTestFinished(() => void sent.destroy());
    if (send === undefined) sent.flushHeaders();
    else sent.end(send);
  });
}

/** A session without the SDK's client, which would open a stream by itself. */
export async function openSession(companion: CompanionServer, protocolVersion = '2025-06-18') {
  const headers = {
    authorization: `Bearer ${tokenOf(companion, 'gemini')}`,
    accept: 'application/json, text/event-stream',
    'content-type': 'application/json',
  };
  const post = (message: object, more: Record<string, string> = {}) =>
    rawRequest(
      companion.port,
      { method: 'POST', headers: { ...headers, ...more } },
      JSON.stringify({ jsonrpc: '2.0', ...message }),
    );
  const clientInfo = { name: 'raw', version: '1' };
  const params = { protocolVersion, capabilities: {}, clientInfo };
  const begun = await post({ id: 0, method: 'initialize', params });
  const session = { 'mcp-session-id': String(begun.headers['mcp-session-id']) };
  return {
    begun,
    headers: { ...headers, ...session },
    call: (name: string, args: object) =>
      post({ id: 1, method: 'tools/call', params: { name, arguments: args } }, session),
    openStream: () => openRequest(companion.port, { headers: { ...headers, ...session } }),
    end: () =>
      rawRequest(companion.port, { method: 'DELETE', headers: { ...headers, ...session } }),
  };
}
