/** The client that measures: one POST, its answer read as bytes, with as little work of its own as can be. */
import { once } from 'node:events';
import { Agent, type IncomingMessage, request } from 'node:http';
import { nowMs } from './clock.ts';

export interface Post {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: unknown;
  /** Gets the answer's text as it arrives; stamps and event names are ASCII, so pieces are decoded on their own. */
  readonly onText?: ((text: string) => void) | undefined;
  readonly signal: AbortSignal;
}

/** What came of it. Times in milliseconds. */
export interface Posted {
  readonly headers: IncomingMessage['headers'];
  /** Of the body, without what HTTP puts around it. */
  readonly bytes: number;
  /** From the call to the last byte. */
  readonly totalMs: number;
}

const agent = new Agent({ keepAlive: true });

/** @throws if there is no answer, it is not a success, or it breaks off; the signal breaks it off. */
export async function post({ url, headers, body, onText, signal }: Post): Promise<Posted> {
  const startMs = nowMs();
  const text = JSON.stringify(body);
  const asked = request(url, {
    method: 'POST',
    agent,
    signal,
    headers: {
      ...headers,
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(text),
    },
  });
  asked.end(text);
  const [response] = (await once(asked, 'response')) as [IncomingMessage];
  if (response.statusCode !== 200) throw await refusalOf(response);
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
