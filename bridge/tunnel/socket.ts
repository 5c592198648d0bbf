/** One WebSocket of the bridge, from its handshake to its end. Keeps it alive and parses its frames. */
import type { IncomingMessage } from 'node:http';
import { type RawData, WebSocket } from 'ws';
import { WireError } from '../../shared/errors.ts';
import { TUNNEL_LIMITS } from '../../shared/limits.ts';
import { parseIfJson } from '../../shared/text/json.ts';
import { JSON_LIMITS } from '../../shared/text/limits.ts';
import { helloSubject, makeProof, type ProofSigner } from '../../shared/wire/proof.ts';
import {
  type BridgeFrame,
  CHALLENGE_HEADER,
  CLOSE,
  Greeting,
  PING,
  PONG,
  TUNNEL_PROTOCOL,
  TunnelFrame,
} from '../../shared/wire/tunnel.ts';
import { LINK_LIMITS } from './limits.ts';

/** The events of a connection. Frames between `onOpen` and `onClose` belong to one socket. */
export interface ConnectionEvents {
  /** The socket is open, and `hello` must be the first frame. `closed` aborts when this socket has closed. */
  onOpen(send: (frame: BridgeFrame) => void, closed: AbortSignal, prove: ProveKey): void;
  onFrame(frame: TunnelFrame): void;
  /** The socket has closed or never opened, and another attempt follows. */
  onClose(reason: string): void;
}

/** The proof of this connection's hello. Undefined for a bridge without a key, and for a server of before. */
export type ProveKey = () => Promise<string | undefined>;

/**
 * Gives the token of each attempt, and after a refusal another one if there is one. A rejection with a LocalError ends
 * all attempts; after any other one the next attempt asks again.
 */
export type TunnelTokens = (refused?: string) => string | Promise<string>;

export interface ConnectionConfig {
  /** The address of the API, http or https. */
  readonly url: string;
  readonly token: string | TunnelTokens;
  /** Headers that a proxy on the way wants besides. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly bridgeId: string;
  /** The key of this machine, by which a server that has seen it knows the bridge. */
  readonly machineKey?: ProofSigner | undefined;
}

/** One attempt to connect. */
export interface SocketConfig extends Omit<ConnectionConfig, 'token'> {
  readonly token: string;
  /** Whether this server has welcomed the bridge before: a strange answer then comes from something on the way. */
  readonly wasWelcomed: boolean;
  /** Milliseconds that the server may take to answer the handshake, and then the hello. */
  readonly answerMs: number;
}

/** The socket's end, and whether another attempt follows. */
export type SocketEnding =
  /** Another attempt follows. `heldMs` is the time since the welcome. */
  | { readonly state: 'lost'; readonly reason: string; readonly heldMs: number }
  /** Another process with the bridge's key took its place. */
  | { readonly state: 'replaced'; readonly reason: string }
  /** `isOfToken`: another token may be taken. */
  | { readonly state: 'refused'; readonly reason: string; readonly isOfToken: boolean };

/** Opens with its construction. */
export class TunnelSocket {
  /** Never rejects. */
  readonly ended: Promise<SocketEnding>;
  readonly #socket: WebSocket;
  readonly #events: ConnectionEvents;
  readonly #closed = new AbortController();
  readonly #config: SocketConfig;
  /** The first failure. Later errors are only its consequences. */
  #failure: string | undefined;
  #refusal: string | undefined;
  #isOfToken = false;
  #goodbye: string | undefined;
  #heardAt = 0;
  #welcomedAt: number | undefined;
  /** The server's challenge, and how far its clock is ahead of this machine's. */
  #challenge: { readonly text: string; readonly offMs: number } | undefined;
  #pingTimer: NodeJS.Timeout | undefined;
  #answerTimer: NodeJS.Timeout | undefined;

  constructor(config: SocketConfig, events: ConnectionEvents) {
    const { url, token, headers, bridgeId } = config;
    this.#events = events;
    this.#config = config;
    const socket = new WebSocket(connectUrl(url, bridgeId), {
      headers: { ...headers, authorization: `Bearer ${token}` },
      maxPayload: TUNNEL_LIMITS.maxFrameBytes,
    });
    this.#socket = socket;
    this.#limitAnswer('the server did not answer');
    socket.on('upgrade', ({ headers }) => this.#noteChallenge(headers[CHALLENGE_HEADER]));
    socket.on('open', () => this.#open());
    socket.on('message', (data) => this.#receive(data));
    socket.on('unexpected-response', (_, response) => void this.#turnAway(response));
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
    this.#pingTimer = setInterval(() => this.#ping(), LINK_LIMITS.pingMs);
    // Before the hello this end looks at its machine. That time does not count against the server.
    this.#limitAnswer('the disk of this machine did not answer', LINK_LIMITS.lookMs);
    this.#events.onOpen(
      (frame) => this.#say(frame),
      this.#closed.signal,
      () => this.#prove(),
    );
  }

  #noteChallenge(text: string | string[] | undefined): void {
    if (typeof text !== 'string') return;
    this.#challenge = { text, offMs: Number.parseInt(text, 10) - Date.now() };
  }

  /** By the server's clock, so that a wrong one of this machine does not matter. */
  async #prove(): Promise<string | undefined> {
    const { machineKey, url, token, bridgeId } = this.#config;
    if (!machineKey || !this.#challenge) return undefined;
    const { text, offMs } = this.#challenge;
    const subject = await helloSubject(bridgeId, token, text);
    const { hostname: server } = new URL(url);
    return await makeProof(machineKey, { subject, nowMs: Date.now() + offMs, server });
  }

  #say(frame: BridgeFrame): void {
    if (this.#closed.signal.aborted) return;
    if (frame.type === 'hello') this.#limitAnswer('the server did not answer the hello');
    this.#send(JSON.stringify(frame));
  }

  #limitAnswer(failure: string, ms = this.#config.answerMs): void {
    clearTimeout(this.#answerTimer);
    this.#answerTimer = setTimeout(() => this.#fail(failure), ms);
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
    // A frame that arrives after this end began to close is sent again on the next connection.
    if (this.#socket.readyState !== WebSocket.OPEN) return;
    this.#heardAt = performance.now();
    const text = data.toString();
    if (text === PONG) return;
    const parsed = parseFrame(text);
    if ('refusal' in parsed) this.#refuse(parsed.refusal);
    else this.#accept(parsed.frame);
  }

  #accept(frame: TunnelFrame): void {
    if (frame.type === 'goodbye') this.#goodbye = frame.message;
    if (frame.type === 'welcome') {
      this.#welcomedAt = performance.now();
      clearTimeout(this.#answerTimer);
    }
    this.#events.onFrame(frame);
  }

  #refuse({ code, message }: SocketRefusal): void {
    this.#refusal = message;
    this.#socket.close(code);
  }

  /** The server answered the handshake with an HTTP status instead of a socket. */
  async #turnAway(response: IncomingMessage): Promise<void> {
    const { statusCode: status = 0 } = response;
    if (!NO_ENTRY.test(`${status}`)) return this.#fail(`the server answered ${status}`);
    const { url, wasWelcomed } = this.#config;
    if (await isOwnAnswer(response)) {
      this.#isOfToken = status !== NOT_FOUND;
      this.#refusal = this.#isOfToken
        ? `The server refused the bridge's token (${status}): get a new one.`
        : `The server has no bridges at ${url}: check the address, or update the server.`;
    } else if (!wasWelcomed) {
      this.#refusal = `No Drawbridge answers at ${url} (status ${status}): check the address.`;
    }
    this.#fail(`something else than Drawbridge answered, with status ${status}`);
  }

  #fail(reason: string): void {
    this.#failure ??= reason;
    this.#socket.terminate();
  }

  #end(code: number, closeReason: string): SocketEnding {
    clearInterval(this.#pingTimer);
    clearTimeout(this.#answerTimer);
    this.#closed.abort();
    if (code === CLOSE.replaced) return { state: 'replaced', reason: REPLACED };
    const refusal = this.#refusal ?? finalReason(code, this.#goodbye);
    const isOfToken = this.#isOfToken || code === CLOSE.tokenEnded;
    if (refusal !== undefined) return { state: 'refused', reason: refusal, isOfToken };
    const heldMs = this.#welcomedAt === undefined ? 0 : performance.now() - this.#welcomedAt;
    return { state: 'lost', reason: this.#failure ?? describeClose(code, closeReason), heldMs };
  }
}

const REPLACED =
  'another program with the key of this machine took its place; it tries once more in a minute';

const NOT_FOUND = 404;
/** A proxy, a firewall or a page to sign in at may answer with these too. */
const NO_ENTRY = /^(?:[23]..|40[134])$/;

/** Whether the body is an error of Drawbridge's API. A server that does not end it runs into the time limit. */
async function isOwnAnswer(response: IncomingMessage): Promise<boolean> {
  let text = '';
  try {
    for await (const chunk of response.setEncoding('utf8')) {
      text += chunk;
      if (text.length > TUNNEL_LIMITS.maxTextChars) return false;
    }
  } catch {
    return false; // The connection was cut.
  }
  return WireError.safeParse(toValue(text)).success;
}

function connectUrl(url: string, bridgeId: string): URL {
  const target = new URL(`/api/v1/bridges/${bridgeId}/connect`, url);
  target.protocol = target.protocol === 'https:' ? 'wss:' : 'ws:';
  return target;
}

/** Checks the version first: nothing else can be read from a frame of another version. */
function parseFrame(
  text: string,
): { readonly frame: TunnelFrame } | { readonly refusal: SocketRefusal } {
  const json = toValue(text);
  const { data: greeting } = Greeting.safeParse(json);
  if (greeting && greeting.protocol !== TUNNEL_PROTOCOL) {
    return { refusal: mismatch(greeting.protocol) };
  }
  const { data: frame } = TunnelFrame.safeParse(json);
  return frame ? { frame } : { refusal: UNKNOWN_FRAME };
}

/** Undefined for text that is not JSON, or nests deeper than any frame. */
function toValue(text: string): unknown {
  return parseIfJson(text, JSON_LIMITS.maxDepth + JSON_LIMITS.envelope);
}

/** Why this end stops, as a sentence for the person, and the close code for the server. */
interface SocketRefusal {
  readonly code: number;
  readonly message: string;
}

const UNKNOWN_FRAME: SocketRefusal = {
  code: CLOSE.badFrame,
  message: 'The server sent a frame that this bridge does not know: update the bridge.',
};

function mismatch(theirs: number): SocketRefusal {
  const which = theirs > TUNNEL_PROTOCOL ? 'the bridge' : 'the server';
  const message = `The server speaks protocol ${theirs}, the bridge ${TUNNEL_PROTOCOL}: update ${which}.`;
  return { code: CLOSE.protocolMismatch, message };
}

/** The reason of a close that ends all attempts. Undefined for a close after which the bridge reconnects. */
function finalReason(code: number, goodbye: string | undefined): string | undefined {
  switch (code) {
    case CLOSE.tokenEnded:
      return goodbye ?? "The bridge's token has expired: get a new one.";
    case CLOSE.sessionEnded:
      return goodbye ?? 'The session of this machine has ended: sign in again.';
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
