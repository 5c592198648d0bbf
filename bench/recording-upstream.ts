/** An OpenAI-compatible server in the measuring process, which keeps every request with its times. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { nowMs } from './clock.ts';

export interface Asked {
  /** The body as it came. */
  readonly body: string;
  /** When its last byte had come. */
  readonly askedMs: number;
  /** When its answer was sent. */
  readonly answeredMs: number;
}

export interface RecordingUpstream extends AsyncDisposable {
  readonly baseUrl: string;
  /** The requests since the last call, in order. */
  take(): readonly Asked[];
}

/** One chunk of an answer, as an event. */
export function frame(choice: object): string {
  return `data: ${JSON.stringify({ choices: [{ index: 0, ...choice }] })}\n\n`;
}

/** Answers each request with the frames that `script` makes of its body, in one piece. */
export async function startRecordingUpstream(
  script: (body: string) => string,
): Promise<RecordingUpstream> {
  let asked: Asked[] = [];
  const server = createServer(async (request: IncomingMessage, response: ServerResponse) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const askedMs = nowMs();
    const body = Buffer.concat(chunks).toString('utf8');
    response.writeHead(200, { 'content-type': 'text/event-stream' }).end(script(body));
    asked.push({ body, askedMs, answeredMs: nowMs() });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    baseUrl: `http://127.0.0.1:${port}/v1`,
    take() {
      const taken = asked;
      asked = [];
      return taken;
    },
    [Symbol.asyncDispose]: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
