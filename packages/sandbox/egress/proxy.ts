/**
 * The HTTP proxy behind a door: it judges every request by its host, at that moment, and connects to the address that it
 * checked. It serves one request on each connection.
 */
import type { IncomingHttpHeaders, IncomingMessage, Server, ServerResponse } from 'node:http';
import { connect, isIP, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { newDeferred } from '../../../machine/deferred.ts';
import { createServer, request as requestHttp } from '../../../machine/http.ts';
import { type HostPort, hostText, parseHostPort } from '../../../shared/text/hosts.ts';
import type { NetworkDoor } from '../launch/door.ts';
import { EGRESS_LIMITS } from './limits.ts';
import { Lookups } from './lookups.ts';
import { type HostGrant, Pass } from './pass.ts';
import { addressesOf, type FoundAddress, pinnedTo, type Reach, type Resolver } from './reach.ts';

/** The verdict on one connection. */
export type HostVerdict =
  | { readonly isOpen: true; readonly reach: Reach }
  /** `reason` is one sentence on what to do, for the model. */
  | { readonly isOpen: false; readonly reason: string };

/** Judges a host by the rules as they are now, and by what the command was granted. */
export type JudgeHost = (target: HostPort, grant: HostGrant) => Promise<HostVerdict>;

export interface ProxySurroundings {
  readonly judge: JudgeHost;
  readonly resolver: Resolver;
}

/** Ends with its door. */
export class HostProxy {
  readonly #surroundings: ProxySurroundings;
  readonly #lookups: Lookups;
  readonly #passes = new Map<string, Pass>();
  readonly #server: Server;
  /** All connections, with what ends those whose head is late. */
  readonly #heads = new Map<Socket, NodeJS.Timeout>();
  /** The connections that have had their one request: the server's own count leaves CONNECT out. */
  readonly #served = new WeakSet<Duplex>();

  constructor(door: NetworkDoor, surroundings: ProxySurroundings) {
    this.#surroundings = surroundings;
    this.#lookups = new Lookups(surroundings.resolver);
    this.#server = createServer({ maxHeaderSize: EGRESS_LIMITS.maxHeadBytes });
    this.#server.maxRequestsPerSocket = 1;
    this.#server.timeout = EGRESS_LIMITS.idleMs;
    this.#server.on('connect', (request, socket: Duplex, head: Buffer) => {
      void this.#tunnel(request, socket, head);
    });
    this.#server.on('request', (request, response) => void this.#forward(request, response));
    this.#server.on('clientError', (_error, socket) => refuse(socket, BAD_REQUEST));
    const { listener, ended } = door;
    listener.maxConnections = EGRESS_LIMITS.maxConnections;
    listener.on('connection', (socket) => this.#accept(socket));
    ended.addEventListener('abort', () => {
      for (const pass of this.#passes.values()) pass[Symbol.dispose]();
      for (const socket of this.#heads.keys()) socket.destroy();
    });
  }

  /** A server that does not listen itself bounds no head: it can come byte by byte. */
  #accept(socket: Socket): void {
    const late = setTimeout(() => socket.destroy(), EGRESS_LIMITS.headMs);
    this.#heads.set(socket, late);
    socket.on('close', () => {
      clearTimeout(late);
      this.#heads.delete(socket);
    });
    this.#server.emit('connection', socket);
  }

  /** Lets a command in until its pass is disposed of. */
  admit(grant: HostGrant): Pass {
    const pass = new Pass(grant);
    this.#passes.set(pass.token, pass);
    pass.ended.addEventListener('abort', () => this.#passes.delete(pass.token));
    return pass;
  }

  /** The target of a CONNECT request alone counts, whatever its headers say. */
  async #tunnel(request: IncomingMessage, client: Duplex, head: Buffer): Promise<void> {
    client.on('error', () => client.destroy());
    // An answer may be on its way, which a refusal would end up in.
    if (this.#served.has(client)) return void client.destroy();
    const opened = await this.#open(request, targetIn(request.url ?? ''));
    if (!('found' in opened)) return refuse(client, opened);
    const { pass, target, found } = opened;
    const upstream = await connected(target, found, pass.ended);
    if (upstream === undefined) return refuse(client, unreachable(target));
    try {
      client.write('HTTP/1.1 200 Connection established\r\n\r\n');
      if (head.length > 0) upstream.write(head);
      endWhenSilent(client, upstream);
      const { ended: signal } = pass;
      await Promise.all([
        pipeline(client, upstream, { signal }),
        pipeline(upstream, client, { signal }),
      ]);
    } catch {
      // Either side has gone, or the command exited.
    } finally {
      client.destroy();
      upstream.destroy();
    }
  }

  /** The address of the request's first line alone counts, and the `Host` that goes on is made of it. */
  async #forward(request: IncomingMessage, response: ServerResponse): Promise<void> {
    request.on('error', () => {});
    response.on('error', () => {});
    this.#served.add(request.socket);
    if (hidesFraming(request.headers)) return answer(response, BAD_REQUEST);
    const [, authority = '', path = ''] = ABSOLUTE.exec(request.url ?? '') ?? [];
    const opened = await this.#open(request, targetIn(authority, HTTP_PORT));
    if (!('found' in opened)) return answer(response, opened);
    const { pass, target, found } = opened;
    try {
      const given = await relayed(request, { target, path, found, signal: pass.ended });
      response.writeHead(given.statusCode ?? BAD_GATEWAY.status, {
        ...endToEnd(given.headers),
        connection: 'close',
      });
      await pipeline(given, response, { signal: pass.ended });
    } catch {
      if (response.headersSent) response.destroy();
      else answer(response, unreachable(target));
    }
  }

  /** Whose request it is, whether it may be made, and where it leads. */
  async #open(
    { headers, socket }: IncomingMessage,
    target: HostPort | undefined,
  ): Promise<OpenedTarget | Refusal> {
    clearTimeout(this.#heads.get(socket));
    const pass = this.#passes.get(tokenIn(headers) ?? '');
    if (pass === undefined) return NO_PASS;
    if (target === undefined) return BAD_REQUEST;
    const { judge, resolver } = this.#surroundings;
    try {
      const verdict = await judge(target, pass.grant);
      if (!verdict.isOpen) {
        pass.noteRefused(target, verdict.reason);
        return { status: 403, text: verdict.reason };
      }
      const found = await whilePresent(socket, pass, async (signal) => {
        const lookup = (host: string) => this.#lookups.find(host, pass, signal);
        return await addressesOf(target, verdict.reach, { ...resolver, lookup });
      });
      if (pass.ended.aborted) return NO_PASS;
      if (found !== undefined) return { pass, target, found };
      const refusal = privateAddress(target);
      pass.noteRefused(target, refusal.text);
      return refusal;
    } catch {
      return unreachable(target);
    }
  }
}

interface OpenedTarget {
  readonly pass: Pass;
  readonly target: HostPort;
  readonly found: readonly FoundAddress[];
}

interface Refusal {
  readonly status: number;
  readonly text: string;
}

/** Colons are in IPv6 addresses alone, so that a host is either one of these or a name. */
function targetIn(authority: string, usualPort?: number): HostPort | undefined {
  const target = parseHostPort(authority, usualPort);
  return target?.host.includes(':') && isIP(target.host) !== 6 ? undefined : target;
}

const HTTP_PORT = 80;
const ABSOLUTE = /^http:\/\/([^/?#]*)(\/[^#]*|\?[^#]*)?$/i;

const NO_PASS: Refusal = {
  status: 407,
  text: 'Only a command with the permission network passes here, by the proxy of its own environment.',
};
const BAD_REQUEST: Refusal = {
  status: 400,
  text: 'This proxy takes CONNECT host:port, and http://host/path: name the host in plain letters, without a user.',
};
const BAD_GATEWAY = { status: 502 } as const;

function unreachable(target: HostPort): Refusal {
  return { ...BAD_GATEWAY, text: `${hostText(target)} could not be reached.` };
}

function privateAddress(target: HostPort): Refusal {
  return {
    status: 403,
    text:
      `${hostText(target)} leads into a private network, so it stays closed until the machine's owner writes a rule for ` +
      'exactly this name. The machine itself needs a rule for localhost or for the address.',
  };
}

/** Basic credentials (RFC 7617), as clients make them of a proxy's address. */
function tokenIn({ 'proxy-authorization': credentials }: IncomingHttpHeaders): string | undefined {
  const [, encoded] = /^basic ([a-z0-9+/=_-]+)$/i.exec(credentials ?? '') ?? [];
  if (encoded === undefined) return undefined;
  return /^[^:]*:(.*)$/.exec(Buffer.from(encoded, 'base64').toString('latin1'))?.[1];
}

/** Undefined where the host does not answer in time. */
async function connected(
  { host, port }: HostPort,
  found: readonly FoundAddress[],
  ended: AbortSignal,
): Promise<Socket | undefined> {
  const { promise, resolve } = newDeferred<boolean>();
  const lookup = pinnedTo(found);
  const upstream = connect({ host, port, lookup, allowHalfOpen: true });
  const signal = AbortSignal.any([ended, AbortSignal.timeout(EGRESS_LIMITS.connectMs)]);
  const giveUp = () => resolve(false);
  signal.addEventListener('abort', giveUp);
  upstream.on('error', giveUp).once('connect', () => resolve(true));
  const isConnected = (await promise) && !ended.aborted;
  signal.removeEventListener('abort', giveUp);
  if (isConnected) return upstream;
  upstream.destroy();
  return undefined;
}

function endWhenSilent(client: Duplex, upstream: Socket): void {
  const end = () => {
    client.destroy();
    upstream.destroy();
  };
  // What one side sends, the other side receives: each is silent only if both are.
  upstream.setTimeout(EGRESS_LIMITS.idleMs, end);
  if ('setTimeout' in client && typeof client.setTimeout === 'function') client.setTimeout(0);
}

interface Relayed {
  readonly target: HostPort;
  readonly path: string;
  readonly found: readonly FoundAddress[];
  readonly signal: AbortSignal;
}

/** The answer to the request from its host. Rejects where there is none. */
async function relayed(
  request: IncomingMessage,
  { target, path, found, signal }: Relayed,
): Promise<IncomingMessage> {
  const { promise, resolve, reject } = newDeferred<IncomingMessage>();
  const isChunked = request.headers['transfer-encoding'] !== undefined;
  const outgoing = requestHttp({
    host: target.host,
    port: target.port,
    method: request.method ?? 'GET',
    path: path.startsWith('/') ? path : `/${path}`,
    headers: {
      ...endToEnd(request.headers),
      ...(isChunked && { 'transfer-encoding': 'chunked' }),
      host: hostText(target),
      connection: 'close',
    },
    agent: false,
    lookup: pinnedTo(found),
    maxHeaderSize: EGRESS_LIMITS.maxHeadBytes,
    timeout: EGRESS_LIMITS.idleMs,
    signal,
  });
  // A host that answers with another protocol closes the request without an error.
  const closed = () => reject(new Error('no answer'));
  outgoing.on('response', resolve).on('error', reject).on('close', closed);
  outgoing.on('timeout', () => outgoing.destroy());
  outgoing.on('upgrade', (_response, socket) => socket.destroy());
  void pipeline(request, outgoing, { signal }).catch(reject);
  return await promise;
}

/** The headers that are meant for the other end, and not for this proxy (RFC 9110, 7.6.1). */
function endToEnd(headers: IncomingHttpHeaders): IncomingHttpHeaders {
  const named = (headers.connection ?? '').toLowerCase().split(/[\s,]+/);
  const dropped = new Set([...HOP_BY_HOP, ...named]);
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !dropped.has(name)));
}

/** Whether `Connection` would take away what says where the body ends, or which host is meant. */
function hidesFraming(headers: IncomingHttpHeaders): boolean {
  return /(?:^|[\s,])(?:content-length|transfer-encoding|host)(?:$|[\s,])/i.test(
    headers.connection ?? '',
  );
}

const HOP_BY_HOP: readonly string[] = [
  'connection',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'host',
  'expect',
];

/** The work's signal aborts when the client has gone, the command exits or it takes too long. */
async function whilePresent<Value>(
  client: Socket,
  { ended }: Pass,
  work: (signal: AbortSignal) => Promise<Value>,
): Promise<Value> {
  const gone = new AbortController();
  const leave = () => gone.abort();
  client.once('close', leave);
  const timer = setTimeout(leave, EGRESS_LIMITS.connectMs);
  if (client.destroyed) leave();
  try {
    return await work(AbortSignal.any([gone.signal, ended]));
  } finally {
    clearTimeout(timer);
    client.off('close', leave);
  }
}

function answer(response: ServerResponse, { status, text }: Refusal): void {
  response.writeHead(status, headersOf({ status, text }));
  response.end(`${text}\n`);
}

function refuse(socket: Duplex, { status, text }: Refusal): void {
  const headers = Object.entries(headersOf({ status, text })).map(
    ([name, value]) => `${name}: ${value}\r\n`,
  );
  const head = `HTTP/1.1 ${status} ${REASONS[status] ?? 'Refused'}\r\n${headers.join('')}\r\n`;
  if (socket.writable) socket.end(`${head}${text}\n`, () => socket.destroy());
  else socket.destroy();
}

const REASONS: Readonly<Record<number, string>> = {
  400: 'Bad Request',
  403: 'Forbidden',
  407: 'Proxy Authentication Required',
  502: 'Bad Gateway',
};

function headersOf({ status, text }: Refusal): Record<string, string> {
  return {
    'content-type': 'text/plain; charset=utf-8',
    'content-length': String(Buffer.byteLength(text) + 1),
    connection: 'close',
    ...(status === NO_PASS.status && { 'proxy-authenticate': 'Basic realm="drawbridge"' }),
  };
}
