/**
 * Reads a stream over a WebSocket (docs/protocol.md, "WebSocket"). A browser has six connections to a server without
 * HTTP/2, for the pages of all its tabs together, and some hundred WebSockets.
 */
import type { TicketRequest } from '../shared/api/conversations.ts';
import { dataOfNamed } from '../shared/api/sse.ts';
import { parseJson } from '../shared/text/json.ts';
import { JSON_LIMITS } from '../shared/text/limits.ts';
import type { Clock } from './clock.ts';
import { ClientError, clientError } from './error.ts';
import { CLIENT_LIMITS } from './limits.ts';
import { unlessSilent } from './silence.ts';
import type { Frame, ReadOptions } from './sse.ts';

/** What the client needs of a WebSocket. The events are those of the standard, whose types differ by runtime. */
export interface SocketLike {
  onopen: ((event: never) => void) | null;
  onmessage: ((event: never) => void) | null;
  onclose: ((event: never) => void) | null;
  send(text: string): void;
  close(code?: number): void;
}

/** The sockets of one endpoint. */
export class Sockets {
  readonly #base: string;
  readonly #open: (url: string) => SocketLike;
  readonly #ticketFor: (stream: TicketRequest, signal: AbortSignal) => Promise<string>;

  /** `ticketFor` rejects like any request of the client. */
  constructor(
    url: string,
    open: (url: string) => SocketLike,
    ticketFor: (stream: TicketRequest, signal: AbortSignal) => Promise<string>,
  ) {
    this.#base = `${url.replace(/^http/, 'ws').replace(/\/+$/, '')}/api/v1/`;
    this.#open = open;
    this.#ticketFor = ticketFor;
  }

  /** A stream: `path` is below `/api/v1/`, and `named` names it for a ticket. */
  of(path: string, named: TicketRequest): StreamSocket {
    return new StreamSocket(this, `${this.#base}${path}`, named);
  }

  /** With a ticket: a browser sends no token with a socket. */
  async open(
    url: string,
    named: TicketRequest,
    cursor: number | undefined,
    signal: AbortSignal,
  ): Promise<SocketLike> {
    const ticket = await this.#ticketFor(named, signal);
    signal.throwIfAborted();
    const query = new URLSearchParams({ ticket, ...(cursor && { after: String(cursor) }) });
    return this.#open(`${url}?${query}`);
  }
}

/** One stream, over one socket after the other. */
export class StreamSocket {
  readonly #sockets: Sockets;
  readonly #url: string;
  readonly #named: TicketRequest;
  #hasFailed = false;
  /** Whether nothing more will come. */
  isOver = false;

  constructor(sockets: Sockets, url: string, named: TicketRequest) {
    this.#sockets = sockets;
    this.#url = url;
    this.#named = named;
  }

  /** Whether to open a socket now. False once after a socket that could not be opened: the next connection has none. */
  takesTurn(): boolean {
    const isTurn = !this.#hasFailed;
    this.#hasFailed = false;
    return isTurn;
  }

  /** An attempt that is given up opens no socket later. */
  async #open(cursor: number | undefined, clock: Clock, signal: AbortSignal): Promise<SocketLike> {
    const attempt = new AbortController();
    const either = AbortSignal.any([signal, attempt.signal]);
    try {
      return await unlessSilent(this.#sockets.open(this.#url, this.#named, cursor, either), clock);
    } catch (error) {
      attempt.abort();
      throw error;
    }
  }

  /** The frames of one connection after the cursor, until it ends, fails or is silent for too long. */
  async *read<Event>(
    cursor: number | undefined,
    { read, clock, signal }: ReadOptions<Event>,
  ): AsyncGenerator<Frame<Event>, void, undefined> {
    const heard = listen(await this.#open(cursor, clock, signal), signal);
    let unackedChars = 0;
    try {
      while (!signal.aborted) {
        const text = await unlessSilent(heard.next(), clock);
        if (text === undefined) break;
        let last: number | undefined;
        for (const { event, position } of parsePositioned(text)) {
          last = position ?? last;
          yield { position: position ?? undefined, event: read(event.type, dataOfNamed(event)) };
        }
        unackedChars += text.length;
        if (last === undefined || unackedChars < CLIENT_LIMITS.ackChars) continue;
        heard.acknowledge(last);
        unackedChars = 0;
      }
    } finally {
      heard.leave();
    }
    if (signal.aborted) return;
    const { closedWith, wasOpen } = heard;
    this.isOver = wasOpen && closedWith === DONE;
    if (closedWith === DELETED)
      throw new ClientError('NOT_FOUND', 'The conversation was deleted', { status: 404 });
    if (wasOpen) return;
    this.#hasFailed = true;
    throw clientError('UNREACHABLE', 'No WebSocket reaches the server');
  }
}

/** Close codes: nothing more comes, and the conversation is no more. */
const DONE = 1000;
const DELETED = 4004;

/** The messages of a socket, one after the other. */
function listen(socket: SocketLike, signal: AbortSignal) {
  const arrived: string[] = [];
  let wake = () => {};
  let closedWith: number | undefined;
  let wasOpen = false;
  socket.onopen = () => {
    wasOpen = true;
  };
  socket.onmessage = ({ data }: { readonly data: unknown }) => {
    arrived.push(String(data));
    wake();
  };
  socket.onclose = ({ code }: { readonly code: number }) => {
    closedWith = code;
    wake();
  };
  const leave = () => {
    closedWith ??= DONE;
    signal.removeEventListener('abort', leave);
    socket.close(DONE);
    wake();
  };
  signal.addEventListener('abort', leave, { once: true });
  return {
    get wasOpen() {
      return wasOpen;
    },
    get closedWith() {
      return closedWith;
    },
    /** Undefined when nothing more comes. */
    async next(): Promise<string | undefined> {
      if (arrived.length === 0 && closedWith === undefined) {
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
      return arrived.shift();
    },
    acknowledge(position: number): void {
      if (closedWith === undefined) socket.send(JSON.stringify({ ack: position }));
    },
    leave,
  };
}

interface PositionedWhole {
  readonly event: { readonly type: string };
  readonly position: number | null;
}

/** Skips a message that is no list of events. The reader's position stays, so the next connection brings what it had. */
function parsePositioned(text: string): readonly PositionedWhole[] {
  const parsed = parseJson(text, JSON_LIMITS.maxDepth + JSON_LIMITS.envelope);
  if (!Array.isArray(parsed)) return [];
  return parsed.filter((entry) => typeof entry?.event?.type === 'string');
}
