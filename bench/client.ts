/** The measuring client: sends one request and reads its answer as bytes, with as little work as possible. */
import { once } from 'node:events';
import { Agent, type IncomingMessage, request } from 'node:http';
import { nowMs } from './clock.ts';

export interface Exchange {
  readonly method: 'GET' | 'POST';
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Sent as JSON; undefined sends no body. */
  readonly body?: unknown;
  /** Gets the answer's text as it arrives. Stamps and event names are ASCII, so each piece is decoded alone. */
  readonly onText?: ((text: string) => void) | undefined;
  readonly signal: AbortSignal;
}

/** An answer in progress. */
export interface Answering {
  readonly headers: IncomingMessage['headers'];
  /** Resolves with the last byte; rejects if the answer breaks off. The caller need not wait for it. */
  readonly ended: Promise<Answered>;
}

/** A complete answer. Times are in milliseconds. */
export interface Answered {
  readonly headers: IncomingMessage['headers'];
  /** Bytes of the body, without HTTP's framing. */
  readonly bytes: number;
  /** From the call to the last byte. */
  readonly totalMs: number;
}

const agent = new Agent({ keepAlive: true });

/** Resolves with the answer's headers. The signal breaks the answer off. @throws without an answer or a success. */
export async function ask(exchange: Exchange): Promise<Answering> {
  const { method, url, headers, body, onText, signal } = exchange;
  const startMs = nowMs();
  const text = body === undefined ? '' : JSON.stringify(body);
  const asked = request(url, {
    method,
    agent,
    signal,
    headers: {
      ...headers,
      ...(body !== undefined && { 'content-type': 'application/json' }),
      'content-length': Buffer.byteLength(text),
    },
  });
  asked.end(text);
  const [response] = (await once(asked, 'response')) as [IncomingMessage];
  if (!isSuccess(response)) throw await refusalOf(response);
  const ended = readToEnd(response, startMs, onText);
  ended.catch(() => undefined); // A caller that leaves an answer early does not wait for its end.
  return { headers: response.headers, ended };
}

function isSuccess({ statusCode = 0 }: IncomingMessage): boolean {
  return statusCode >= 200 && statusCode < 300;
}

async function readToEnd(
  response: IncomingMessage,
  startMs: number,
  onText: Exchange['onText'],
): Promise<Answered> {
  let bytes = 0;
  response.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
    onText?.(chunk.toString('latin1'));
  });
  await once(response, 'end');
  return { headers: response.headers, bytes, totalMs: nowMs() - startMs };
}

async function refusalOf(response: IncomingMessage): Promise<Error> {
  const chunks: Buffer[] = [];
  for await (const chunk of response) chunks.push(chunk as Buffer);
  return new Error(`A request was answered with ${response.statusCode}: ${Buffer.concat(chunks)}`);
}
