/** The bridge's hibernating sockets: finds the one in use, checks whether it is alive, and sends frames. */
import * as z from 'zod';
import { SESSION_LIMITS, TUNNEL_LIMITS } from '../../shared/limits.ts';
import { CLOSE, PING, PONG, type TunnelFrame } from '../../shared/wire/tunnel.ts';
import { logEvent } from '../health/log.ts';
import type { Refused } from '../ports/account.ts';
import type { Connecting } from './connect-url.ts';

/** The state of a socket. It survives hibernation with the socket. */
const SocketAttachment = z.object({
  account: z.string(),
  bridgeId: z.string(),
  connectedAtMs: z.number(),
  /** Until when the token is valid that opened it. Attachments of earlier versions lack it: their bridges come again. */
  expiresMs: z.number().default(0),
  /** The session of that token. */
  session: z.string().optional(),
  /** As in {@link Connecting}. `subject` is empty once a hello has come: its proof counts once. */
  origin: z.string().default(''),
  subject: z.string().default(''),
  /** Higher for each newer socket. It orders the sockets, because the clock can be set back. */
  place: z.int(),
  /** The process that said hello. */
  bootId: z.string().optional(),
  /** `greeted`: its hello was accepted. `welcomed`: the welcome was sent, which takes a while longer. */
  state: z.enum(['opened', 'greeted', 'welcomed']),
});
export type SocketAttachment = z.infer<typeof SocketAttachment>;

const TAG = 'bridge';

/** Owns all sockets of the bridge. The newest welcomed socket is the one in use. */
export class BridgeSocket {
  readonly #state: DurableObjectState;

  constructor(state: DurableObjectState) {
    this.#state = state;
    state.setWebSocketAutoResponse(new WebSocketRequestResponsePair(PING, PONG));
  }

  /** `owner` comes from the token, never from a frame. */
  accept(socket: WebSocket, { challenge: _, ...owner }: Connecting, nowMs: number): void {
    const others = this.#state.getWebSockets(TAG).map(attachmentOf);
    const place = Math.max(0, ...others.map((other) => other.place)) + 1;
    this.#state.acceptWebSocket(socket, [TAG]);
    write(socket, { ...owner, connectedAtMs: nowMs, place, state: 'opened' });
  }

  /** What the proof of this socket's hello must be for. Only the first call gets it. */
  takeSubject(socket: WebSocket): string {
    const attachment = attachmentOf(socket);
    write(socket, { ...attachment, subject: '' });
    return attachment.subject;
  }

  /** To be called when the hello was accepted. From then on the socket may send any frame. */
  greet(socket: WebSocket, bootId: string): void {
    write(socket, { ...attachmentOf(socket), bootId, state: 'greeted' });
  }

  /** Whether another process of the bridge is connected, which this one takes the place of. */
  replaces(bootId: string, nowMs: number): boolean {
    const current = this.current(nowMs);
    return current !== null && (attachmentOf(current).bootId ?? bootId) !== bootId;
  }

  /** Whether the socket has closed, or a later one of the same bridge is in use already. */
  isOutdated(socket: WebSocket): boolean {
    if (socket.readyState !== WebSocket.OPEN) return true;
    const { place } = attachmentOf(socket);
    return this.#state
      .getWebSockets(TAG)
      .map(attachmentOf)
      .some((other) => other.state === 'welcomed' && other.place > place);
  }

  /** Makes this the socket in use. Closes older ones with a code after which they do not reconnect. */
  welcome(socket: WebSocket): void {
    for (const other of this.#state.getWebSockets(TAG)) {
      if (other !== socket && attachmentOf(other).state === 'welcomed') {
        other.close(CLOSE.replaced, 'a newer connection of this bridge took over');
      }
    }
    write(socket, { ...attachmentOf(socket), state: 'welcomed' });
  }

  /**
   * Refuses the sockets whose token has expired. One whose session lives, so that there is no `refusal`, stays for the
   * time of another token, because a session needs no new connection for each of them. Returns when the next one
   * expires, or null.
   */
  async endExpired(
    nowMs: number,
    refusal: (account: string, session: string) => Promise<Refused | null>,
  ): Promise<number | null> {
    let nextMs: number | null = null;
    for (const socket of this.#state.getWebSockets(TAG)) {
      const { account, session, expiresMs } = attachmentOf(socket);
      let untilMs = expiresMs;
      if (expiresMs <= nowMs) {
        const why = session === undefined ? 'UNAUTHENTICATED' : await refusal(account, session);
        if (why) {
          refuseAs(socket, why);
          continue;
        }
        untilMs = nowMs + SESSION_LIMITS.tokenMs;
        write(socket, { ...attachmentOf(socket), expiresMs: untilMs });
      }
      nextMs = Math.min(nextMs ?? untilMs, untilMs);
    }
    return nextMs;
  }

  /** Refuses the sockets of an account: those of a session, or for null all. */
  end(account: string, session: string | null, why: Refused): void {
    for (const socket of this.#state.getWebSockets(TAG)) {
      const attachment = attachmentOf(socket);
      if (attachment.account !== account) continue;
      if (session === null || attachment.session === session) refuseAs(socket, why);
    }
  }

  /** The socket in use, if its last sign of life is recent enough. */
  current(nowMs: number): WebSocket | null {
    const socket = this.inUse();
    return socket && this.#isAlive(socket, nowMs) ? socket : null;
  }

  /** The socket in use, even if it looks dead: a machine that only sleeps gets these frames later. */
  inUse(): WebSocket | null {
    const open = this.#state
      .getWebSockets(TAG)
      .filter(
        (socket) =>
          socket.readyState === WebSocket.OPEN && attachmentOf(socket).state === 'welcomed',
      );
    return open.at(-1) ?? null;
  }

  /** Whether a socket is open whose hello was accepted. Its account knows it as connected. */
  get isGreeted(): boolean {
    return this.#state
      .getWebSockets(TAG)
      .some(
        (socket) => socket.readyState === WebSocket.OPEN && attachmentOf(socket).state !== 'opened',
      );
  }

  /** A sign of life far in the future is from before the clock was set back, and does not count. The next ping does. */
  #isAlive(socket: WebSocket, nowMs: number): boolean {
    const ponged = this.#state.getWebSocketAutoResponseTimestamp(socket)?.getTime() ?? 0;
    const signs = [ponged, attachmentOf(socket).connectedAtMs];
    return signs.some((signMs) => Math.abs(nowMs - signMs) < TUNNEL_LIMITS.deadMs);
  }
}

export function attachmentOf(socket: WebSocket): SocketAttachment {
  return SocketAttachment.parse(socket.deserializeAttachment());
}

/** Drops the frame if the socket is closed: stored calls and answers are sent again with the next welcome. */
export function sendFrame(socket: WebSocket | null, frame: TunnelFrame): void {
  try {
    socket?.send(JSON.stringify(frame));
  } catch {
    // The socket closed just before the send; see above.
  }
}

/** Sends the reason as a goodbye, then closes with a code that the bridge takes as final. */
export function refuse(socket: WebSocket, closeCode: number, code: string, message: string): void {
  const { account, bridgeId: bridge } = attachmentOf(socket);
  logEvent('bridge_refused', { account, bridge, code });
  sendFrame(socket, { type: 'goodbye', code, message });
  socket.close(closeCode, code);
}

/** {@link refuse} for a socket whose token does not count any more. Where another token may, the bridge gets one. */
export function refuseAs(socket: WebSocket, code: keyof typeof GOODBYES): void {
  const { sessionEnded, tokenEnded } = CLOSE;
  refuse(socket, code === 'SESSION_ENDED' ? sessionEnded : tokenEnded, code, GOODBYES[code]);
}

const GOODBYES: Readonly<Record<Refused | 'UNAUTHENTICATED', string>> = {
  SESSION_ENDED: 'The session of this machine was ended: sign in again with `drawbridge login`.',
  ACCOUNT_SUSPENDED: 'The operator of the server has suspended this account.',
  ACCOUNT_DELETED: 'The operator of the server has deleted this account.',
  UNAUTHENTICATED: "The bridge's token has expired: get a new one.",
};

function write(socket: WebSocket, attachment: SocketAttachment): void {
  socket.serializeAttachment(attachment);
}
