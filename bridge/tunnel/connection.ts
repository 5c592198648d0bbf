/** The bridge's one outgoing WebSocket: opened, kept alive, opened again; frames in and out. */
import { type RawData, WebSocket } from 'ws';
import { TUNNEL_LIMITS } from '../../shared/limits.ts';
import {
  type BridgeFrame,
  CLOSE,
  PING,
  PONG,
  TUNNEL_PROTOCOL,
  TunnelFrame,
} from '../../shared/tunnel.ts';

/** What the connection tells its owner. Frames between `onOpen` and `onClose` belong to one socket. */
export interface ConnectionEvents {
  /** The socket is open: `hello` must be the first frame. `closed` aborts when this very socket is gone. */
  onOpen(send: (frame: BridgeFrame) => void, closed: AbortSignal): void;
  onFrame(frame: TunnelFrame): void;
  /** The socket is gone, or never came to be, and another attempt follows. */
  onClose(reason: string): void;
}

export interface ConnectionConfig {
  /** http or https; the address of the API. */
  readonly url: string;
  readonly token: string;
  readonly bridgeId: string;
}

/** Why there will be no further attempt: the server said so, and trying again would not change it. */
export class ConnectionRefused extends Error {
  override readonly name = 'ConnectionRefused';
}

/**
 * Stays connected until the signal aborts. Resolves then; rejects with {@link ConnectionRefused} when the server
 * refused the token, the protocol or a frame, or gave the bridge's place to a newer connection.
 */
export async function stayConnected(
  config: ConnectionConfig,
  events: ConnectionEvents,
  signal: AbortSignal,
): Promise<void> {
  let failures = 0;
  while (!signal.aborted) {
    const ending = await connectOnce(config, events, signal);
    if (signal.aborted) return;
    if (ending.state === 'refused') throw new ConnectionRefused(ending.reason);
    events.onClose(ending.reason);
    failures = failuresAfter(failures, ending.heldMs);
    await sleep(backoffMs(failures, Math.random()), signal);
  }
}

async function connectOnce(
  config: ConnectionConfig,
  events: ConnectionEvents,
  signal: AbortSignal,
): Promise<Ending> {
  const connection = new Connection(config, events);
  const leave = () => connection.leave();
  signal.addEventListener('abort', leave, { once: true });
  try {
    return await connection.ended;
  } finally {
    signal.removeEventListener('abort', leave);
  }
}

type Ending =
  /** `heldMs` is the time since the welcome. */
  | { readonly state: 'lost'; readonly reason: string; readonly heldMs: number }
  | { readonly state: 'refused'; readonly reason: string };

/** One socket, from its handshake to its end. */
class Connection {
  /** Never rejects. */
  readonly ended: Promise<Ending>;
  readonly #socket: WebSocket;
  readonly #events: ConnectionEvents;
  readonly #closed = new AbortController();
  /** The first one counts: what is reported after it are its consequences. */
  #failure: string | undefined;
  #refusal: string | undefined;
  #goodbye: string | undefined;
  #heardAt = 0;
  #welcomedAt: number | undefined;
  #pingTimer: NodeJS.Timeout | undefined;
  #welcomeTimer: NodeJS.Timeout | undefined;

  constructor({ url, token, bridgeId }: ConnectionConfig, events: ConnectionEvents) {
    this.#events = events;
    const socket = new WebSocket(connectUrl(url, bridgeId), {
      headers: { authorization: `Bearer ${token}` },
      maxPayload: TUNNEL_LIMITS.maxFrameBytes,
      handshakeTimeout: TUNNEL_LIMITS.welcomeMs,
    });
    this.#socket = socket;
    socket.on('open', () => this.#open());
    socket.on('message', (data) => this.#receive(data));
    socket.on('unexpected-response', (_, { statusCode }) => this.#turnAway(statusCode));
    socket.on('error', (error) => this.#fail(describeError(error)));
    this.ended = new Promise((resolve) => {
      socket.on('close', (code, reason) => resolve(this.#end(code, reason.toString())));
    });
  }

  leave(): void {
    this.#socket.terminate();
  }

  #open(): void {
    this.#heardAt = performance.now();
    this.#pingTimer = setInterval(() => this.#ping(), TUNNEL_LIMITS.pingMs);
    this.#welcomeTimer = setTimeout(
      () => this.#fail('the server did not answer the hello'),
      TUNNEL_LIMITS.welcomeMs,
    );
    this.#events.onOpen((frame) => this.#send(JSON.stringify(frame)), this.#closed.signal);
  }

  #ping(): void {
    if (performance.now() - this.#heardAt > TUNNEL_LIMITS.deadMs) {
      this.#fail('the server no longer answers');
    } else this.#send(PING);
  }

  #send(text: string): void {
    if (this.#socket.readyState === WebSocket.OPEN) this.#socket.send(text);
  }

  #receive(data: RawData): void {
    // What was on its way when this end began to close is told again on the next connection.
    if (this.#socket.readyState !== WebSocket.OPEN) return;
    this.#heardAt = performance.now();
    const text = data.toString();
    if (text === PONG) return;
    const frame = parseFrame(text);
    const refusal = frame ? refusalOf(frame) : UNKNOWN_FRAME;
    if (refusal) return this.#refuse(refusal);
    if (frame) this.#accept(frame);
  }

  #accept(frame: TunnelFrame): void {
    if (frame.type === 'goodbye') this.#goodbye = frame.message;
    if (frame.type === 'welcome') {
      this.#welcomedAt = performance.now();
      clearTimeout(this.#welcomeTimer);
    }
    this.#events.onFrame(frame);
  }

  #refuse({ code, message }: Refusal): void {
    this.#refusal = message;
    this.#socket.close(code);
  }

  /** The server answered the handshake with something else than a socket. */
  #turnAway(status = 0): void {
    if (status === UNAUTHORIZED || status === FORBIDDEN) {
      this.#refusal = `The server refused the bridge's token (${status}): get a new one.`;
    }
    this.#fail(`the server answered ${status}`);
  }

  #fail(reason: string): void {
    this.#failure ??= reason;
    this.#socket.terminate();
  }

  #end(code: number, closeReason: string): Ending {
    clearInterval(this.#pingTimer);
    clearTimeout(this.#welcomeTimer);
    this.#closed.abort();
    const refusal = this.#refusal ?? finalReason(code, this.#goodbye);
    if (refusal !== undefined) return { state: 'refused', reason: refusal };
    const heldMs = this.#welcomedAt === undefined ? 0 : performance.now() - this.#welcomedAt;
    return { state: 'lost', reason: this.#failure ?? describeClose(code, closeReason), heldMs };
  }
}

const UNAUTHORIZED = 401;
const FORBIDDEN = 403;

function connectUrl(url: string, bridgeId: string): URL {
  const target = new URL(`/api/v1/bridges/${bridgeId}/connect`, url);
  target.protocol = target.protocol === 'https:' ? 'wss:' : 'ws:';
  return target;
}

function parseFrame(text: string): TunnelFrame | undefined {
  try {
    return TunnelFrame.safeParse(JSON.parse(text)).data;
  } catch {
    return undefined; // Not JSON.
  }
}

/** Why this end does not go on, for the person, and the close code that tells the server. */
interface Refusal {
  readonly code: number;
  readonly message: string;
}

const UNKNOWN_FRAME: Refusal = {
  code: CLOSE.badFrame,
  message: 'The server sent a frame that this bridge does not know: update the bridge.',
};

function refusalOf(frame: TunnelFrame): Refusal | undefined {
  if (frame.type !== 'welcome' || frame.protocol === TUNNEL_PROTOCOL) return undefined;
  const which = frame.protocol > TUNNEL_PROTOCOL ? 'the bridge' : 'the server';
  const message = `The server speaks protocol ${frame.protocol}, the bridge ${TUNNEL_PROTOCOL}: update ${which}.`;
  return { code: CLOSE.protocolMismatch, message };
}

/** Undefined for a close after which the bridge comes back. */
function finalReason(code: number, goodbye: string | undefined): string | undefined {
  switch (code) {
    case CLOSE.replaced:
      return 'A newer connection of this bridge took over.';
    case CLOSE.protocolMismatch:
    case CLOSE.badFrame:
      return goodbye ?? 'The server and this bridge do not understand each other: update both.';
    default:
      return undefined;
  }
}

/** A host name with several addresses fails with an AggregateError, which has no message. */
function describeError(error: Error): string {
  if (error.message !== '') return error.message;
  return 'code' in error ? String(error.code) : 'no connection';
}

function describeClose(code: number, reason: string): string {
  if (code === LOST) return 'the connection was lost';
  return `the server closed the connection: ${code}${reason === '' ? '' : ` ${reason}`}`;
}

/** No close frame came (RFC 6455, section 7.1.5). */
const LOST = 1006;

/**
 * A connection counts as good when it held for longer than the longest wait. A welcome alone proves little: a server
 * that fails over each result welcomes the bridge every time.
 */
export function failuresAfter(failures: number, heldMs: number): number {
  return heldMs > TUNNEL_LIMITS.backoffMaxMs ? 0 : failures + 1;
}

/** Doubles with each failure up to the cap; up to half is taken off, so that bridges do not return in step. */
export function backoffMs(failures: number, random: number): number {
  const { backoffMinMs, backoffMaxMs } = TUNNEL_LIMITS;
  return Math.min(backoffMinMs * 2 ** failures, backoffMaxMs) * (1 - random / 2);
}

function sleep(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(done, ms);
    signal.addEventListener('abort', done, { once: true });
    function done(): void {
      clearTimeout(timer);
      signal.removeEventListener('abort', done);
      resolve();
    }
  });
}
