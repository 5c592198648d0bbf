/** An embeddings endpoint on this machine: its vectors count concepts, so that other words for one thing are near. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { onTestFinished } from 'vitest';
import type { EmbeddingService } from '../../packages/code-index/embedder.ts';

/** Words of one line are one concept. */
const CONCEPTS = [
  ['zebra', 'striped', 'savanna'],
  ['kettle', 'boiling', 'teapot'],
  ['violin', 'orchestra', 'strings'],
];

/** The vector that the server gives a text. The last number is never 0. */
export function conceptVector(text: string, dimensions = CONCEPTS.length + 1): number[] {
  const lower = text.toLowerCase();
  const counts = CONCEPTS.map((words) => words.filter((word) => lower.includes(word)).length);
  return Array.from({ length: dimensions }, (_, at) => counts[at] ?? 0.1);
}

export interface Sent {
  readonly model: string;
  readonly input: readonly string[];
}

export interface EmbeddingsServer extends EmbeddingService {
  /** The bodies of all requests. */
  readonly sent: Sent[];
  readonly texts: () => string[];
  readonly authorizations: (string | undefined)[];
  /** In place of the vectors, until it is taken away. */
  answer: Answering | undefined;
  dimensions: number;
}

/** True where it has answered. */
export type Answering = (body: Sent, response: ServerResponse) => boolean | Promise<boolean>;

export async function embeddingsServer(
  changes: Partial<EmbeddingService> = {},
): Promise<EmbeddingsServer> {
  const server = createServer((request, response) => void serve(request, response));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const sent: Sent[] = [];
  const far: EmbeddingsServer = {
    baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    model: 'concepts',
    isPrivate: false,
    ...changes,
    sent,
    texts: () => sent.flatMap(({ input }) => input),
    authorizations: [],
    answer: undefined,
    dimensions: CONCEPTS.length + 1,
  };
  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (request.method !== 'POST') return void response.writeHead(404).end();
    const chunks: Uint8Array[] = [];
    for await (const chunk of request) chunks.push(chunk as Uint8Array);
    const body = JSON.parse(Buffer.concat(chunks).toString()) as Sent;
    sent.push(body);
    far.authorizations.push(request.headers.authorization);
    if (await far.answer?.(body, response)) return;
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify(vectorsFor(body, far.dimensions)));
  }
  return far;
}

/** The last text comes first: the index of each counts. */
export function vectorsFor({ input }: Sent, dimensions?: number) {
  const data = input.map((text, index) => ({ index, embedding: conceptVector(text, dimensions) }));
  return { object: 'list', data: data.reverse() };
}

export function refusing(status: number, headers: Record<string, string> = {}): Answering {
  return (_, response) => {
    response.writeHead(status, headers).end('the text that was refused');
    return true;
  };
}

export function saying(text: string): Answering {
  return (_, response) => {
    response.end(text);
    return true;
  };
}

/** Never answers within a test. */
export const silent: Answering = async () => {
  await sleep(60_000, undefined, { ref: false });
  return true;
};
