/** The companion's HTTP server: lets in only who holds a key, and reads only what is bounded. */
import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { createServer } from '../../../machine/http.ts';
import { parseJson } from '../../../shared/text/json.ts';
import type { GuestFamily } from './discovery.ts';
import { COMPANION_LIMITS } from './limits.ts';

/** A request that has passed the door. */
export interface DoorVisit {
  readonly family: GuestFamily;
  readonly sessionId: string | undefined;
  /** The method and the headers of the protocol, without a body. */
  readonly request: Request;
  /** The JSON of a POST. */
  readonly body: unknown;
  /** Aborts when the connection ends. */
  readonly gone: AbortSignal;
}

export interface FrontDoorOptions {
  readonly tokens: Readonly<Record<GuestFamily, string>>;
  /** May throw a {@link DoorRefusal}. */
  readonly onVisit: (visit: DoorVisit) => Promise<Response>;
}

/** An answer that refuses a request. The message is for a person who looks for the reason. */
export class DoorRefusal extends Error {
  override readonly name = 'Refusal';
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

export interface FrontDoor {
  readonly port: number;
  /** Ends every connection. */
  close(): Promise<void>;
}

/** Listens on a free port of 127.0.0.1. */
export async function openFrontDoor(options: FrontDoorOptions): Promise<FrontDoor> {
  const { requestMs, maxConnections } = COMPANION_LIMITS;
  const server = createServer({ requestTimeout: requestMs });
  server.maxConnections = maxConnections;
  const port = await listen(server);
  const hosts = new Set(HOSTS.map((name) => `${name}:${port}`));
  const reading = { bytes: 0 };
  server.on('request', (request, response) => {
    void answer(request, response, { ...options, hosts, reading });
  });
  // A connection that cannot be accepted, for example without free file handles, must not end the process.
  server.on('error', () => {});
  return {
    port,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/** By these names a program on this machine, or in a container on it, reaches the server. A web page uses its own. */
const HOSTS = ['127.0.0.1', 'localhost', 'host.docker.internal'];

interface OpenFrontDoor extends FrontDoorOptions {
  readonly hosts: ReadonlySet<string>;
  /** What all requests hold whose bodies have not ended. */
  readonly reading: { bytes: number };
}

async function answer(
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  door: OpenFrontDoor,
): Promise<void> {
  const leaving = new AbortController();
  outgoing.once('close', () => leaving.abort()).on('error', () => {});
  try {
    const family = admit(incoming, door);
    const body = incoming.method === 'POST' ? await readBody(incoming, door) : undefined;
    const visit = { family, body, gone: leaving.signal, ...protocolOf(incoming) };
    await pass(await door.onVisit(visit), outgoing, visit.gone);
  } catch (error) {
    refuse(outgoing, error instanceof DoorRefusal ? error : FAILED);
  }
}

const FAILED = new DoorRefusal(500, 'The companion could not answer this request.');

/** Looks at the head of a request only. */
function admit(
  { headers, url = '', method = '' }: IncomingMessage,
  door: OpenFrontDoor,
): GuestFamily {
  if (!door.hosts.has((headers.host ?? '').toLowerCase()))
    throw new DoorRefusal(403, 'This server has another name: use 127.0.0.1.');
  if (headers.origin !== undefined)
    throw new DoorRefusal(403, 'Web pages may not use this server.');
  if (url.split('?', 1)[0] !== '/mcp') throw new DoorRefusal(404, 'There is only /mcp.');
  if (!METHODS.includes(method)) throw new DoorRefusal(405, `Use one of ${METHODS.join(', ')}.`);
  const family = familyOf(headers.authorization ?? '', door.tokens);
  if (family === undefined)
    throw new DoorRefusal(401, 'Send the token of the discovery file as a bearer token.');
  return family;
}

const METHODS = ['GET', 'POST', 'DELETE'];

/** Compares with every token, and in constant time: how long it takes says nothing of them. */
function familyOf(
  authorization: string,
  tokens: FrontDoorOptions['tokens'],
): GuestFamily | undefined {
  const given = digestOf(/^Bearer (.+)$/i.exec(authorization)?.[1] ?? '');
  const [isGemini, isQwen] = [tokens.gemini, tokens.qwen].map((token) =>
    timingSafeEqual(given, digestOf(token)),
  );
  if (isGemini) return 'gemini';
  return isQwen ? 'qwen' : undefined;
}

function digestOf(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}

async function readBody(incoming: IncomingMessage, { reading }: OpenFrontDoor): Promise<unknown> {
  const { maxBodyBytes, maxReadingBytes } = COMPANION_LIMITS;
  const tooLarge = new DoorRefusal(413, `A request has at most ${maxBodyBytes} bytes.`);
  if (Number(incoming.headers['content-length'] ?? 0) > maxBodyBytes) throw tooLarge;
  const chunks: Buffer[] = [];
  let bytes = 0;
  try {
    for await (const chunk of incoming) {
      bytes += chunk.length;
      reading.bytes += chunk.length;
      if (bytes > maxBodyBytes) throw tooLarge;
      if (reading.bytes > maxReadingBytes) throw BUSY;
      chunks.push(chunk);
    }
  } finally {
    reading.bytes -= bytes;
  }
  return parseBody(Buffer.concat(chunks));
}

const BUSY = new DoorRefusal(
  503,
  'Too much is being sent at once: send one request after the other.',
);

function parseBody(body: Buffer): unknown {
  try {
    return parseJson(body.toString('utf8'));
  } catch {
    throw new DoorRefusal(400, 'The body is no JSON.');
  }
}

function protocolOf({
  headers,
  method = '',
}: IncomingMessage): Pick<DoorVisit, 'request' | 'sessionId'> {
  const kept = new Headers();
  for (const name of PROTOCOL_HEADERS) {
    const value = headers[name];
    if (typeof value === 'string') kept.set(name, value);
  }
  return {
    sessionId: kept.get('mcp-session-id') ?? undefined,
    request: new Request('http://127.0.0.1/mcp', { method, headers: kept }),
  };
}

const PROTOCOL_HEADERS = ['accept', 'content-type', 'mcp-protocol-version', 'mcp-session-id'];

/** A client that does not read is cut off: what it does not take would fill the memory. */
async function pass(
  response: Response,
  outgoing: ServerResponse,
  gone: AbortSignal,
): Promise<void> {
  outgoing.writeHead(response.status, Object.fromEntries(response.headers));
  if (response.body === null) return void outgoing.end();
  outgoing.flushHeaders();
  const reader = response.body.getReader();
  const leave = () => void reader.cancel().catch(() => {});
  gone.addEventListener('abort', leave, { once: true });
  if (gone.aborted) leave();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    outgoing.write(value);
    if (outgoing.writableLength > COMPANION_LIMITS.maxUnreadBytes) outgoing.destroy();
  }
  outgoing.end();
}

/** The body of a request that is refused is not read. */
function refuse(outgoing: ServerResponse, { status, message }: DoorRefusal): void {
  if (outgoing.headersSent) return void outgoing.destroy();
  const error = { code: SERVER_ERROR, message };
  outgoing.writeHead(status, {
    'content-type': 'application/json',
    connection: 'close',
    ...(status === 405 && { allow: METHODS.join(', ') }),
    ...(status === 401 && { 'www-authenticate': 'Bearer' }),
  });
  outgoing.end(JSON.stringify({ jsonrpc: '2.0', error, id: null }));
}

/** Of JSON-RPC: an error of the server's own. */
const SERVER_ERROR = -32_000;

async function listen(server: Server): Promise<number> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject).listen(0, '127.0.0.1', resolve);
  });
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('The server has no port.');
  return address.port;
}
