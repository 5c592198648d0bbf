/** The bridge's hibernating socket: which one is current, whether it is alive, and frames on it. */
import { z } from 'zod';
import { TUNNEL_LIMITS } from '../../shared/limits.ts';
import { CLOSE, PING, PONG, type TunnelFrame } from '../../shared/tunnel.ts';

/** Survives hibernation with the socket. `welcomed` turns true with the handshake. */
const Attachment = z.object({
  account: z.string(),
  bridgeId: z.string(),
  connectedAtMs: z.number(),
  welcomed: z.boolean(),
});
export type Attachment = z.infer<typeof Attachment>;

const TAG = 'bridge';

/** Owns all sockets of the bridge; the newest that was welcomed is the one in use. */
export class BridgeSocket {
  readonly #state: DurableObjectState;

  constructor(state: DurableObjectState) {
    this.#state = state;
    state.setWebSocketAutoResponse(new WebSocketRequestResponsePair(PING, PONG));
  }

  /** Whose bridge it is says the token, never a frame. */
  accept(socket: WebSocket, owner: Pick<Attachment, 'account' | 'bridgeId'>, nowMs: number): void {
    const others = this.#state.getWebSockets(TAG).map(attachmentOf);
    // Later than all others, also where the clock was set back: the newest one counts.
    const connectedAtMs = Math.max(nowMs, ...others.map((other) => other.connectedAtMs + 1));
    this.#state.acceptWebSocket(socket, [TAG]);
    write(socket, { ...owner, connectedAtMs, welcomed: false });
  }

  /** Whether the socket has closed, or a later one of the same bridge is in use already. */
  isOutdated(socket: WebSocket): boolean {
    if (socket.readyState !== WebSocket.OPEN) return true;
    const { connectedAtMs } = attachmentOf(socket);
    return this.#state
      .getWebSockets(TAG)
      .map(attachmentOf)
      .some((other) => other.welcomed && other.connectedAtMs > connectedAtMs);
  }

  /** Makes this socket the one in use. The older ones are told not to come back. */
  welcome(socket: WebSocket): void {
    for (const other of this.#state.getWebSockets(TAG)) {
      if (other !== socket && attachmentOf(other).welcomed) {
        other.close(CLOSE.replaced, 'a newer connection of this bridge took over');
      }
    }
    write(socket, { ...attachmentOf(socket), welcomed: true });
  }

  /** The socket in use, if its last sign of life is recent enough. */
  current(nowMs: number): WebSocket | null {
    const open = this.#state
      .getWebSockets(TAG)
      .filter((socket) => socket.readyState === WebSocket.OPEN && attachmentOf(socket).welcomed);
    return (
      open.findLast((socket) => nowMs - this.#lastSignMs(socket) < TUNNEL_LIMITS.deadMs) ?? null
    );
  }

  #lastSignMs(socket: WebSocket): number {
    const ponged = this.#state.getWebSocketAutoResponseTimestamp(socket)?.getTime() ?? 0;
    return Math.max(ponged, attachmentOf(socket).connectedAtMs);
  }
}

export function attachmentOf(socket: WebSocket): Attachment {
  return Attachment.parse(socket.deserializeAttachment());
}

/** A closed socket loses the frame: what matters is stored, and told again with the next welcome. */
export function sendFrame(socket: WebSocket | null, frame: TunnelFrame): void {
  try {
    socket?.send(JSON.stringify(frame));
  } catch {
    // Closed between the look and the send; see above.
  }
}

/** Says why, then closes with a code that the bridge takes for final. */
export function refuse(socket: WebSocket, closeCode: number, code: string, message: string): void {
  sendFrame(socket, { type: 'goodbye', code, message });
  socket.close(closeCode, code);
}

function write(socket: WebSocket, attachment: Attachment): void {
  socket.serializeAttachment(attachment);
}
