/** The bridge's hibernating socket: which one is current, whether it is alive, and frames on it. */
import * as z from 'zod';
import { TUNNEL_LIMITS } from '../../shared/limits.ts';
import {
  type BridgeFrame,
  CLOSE,
  LOOK,
  PING,
  PONG,
  type TunnelFrame,
} from '../../shared/tunnel.ts';

/** Survives hibernation with the socket. */
const Attachment = z.object({
  account: z.string(),
  bridgeId: z.string(),
  connectedAtMs: z.number(),
  /** Higher than that of all sockets before it: the newest one counts, whatever the clock says. */
  place: z.int(),
  /** `greeted` once its hello was taken, `welcomed` once that was answered, which takes a while. */
  state: z.enum(['opened', 'greeted', 'welcomed']),
  /** Whether the bridge answers `look`; missing in what earlier versions attached. */
  looks: z.boolean().default(false),
});
export type Attachment = z.infer<typeof Attachment>;

type Hello = Extract<BridgeFrame, { type: 'hello' }>;

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
    const place = Math.max(0, ...others.map((other) => other.place)) + 1;
    this.#state.acceptWebSocket(socket, [TAG]);
    write(socket, { ...owner, connectedAtMs: nowMs, place, state: 'opened', looks: false });
  }

  /** Its hello was taken: from here on it may say anything. */
  greet(socket: WebSocket, { features }: Pick<Hello, 'features'>): void {
    const looks = features.includes(LOOK);
    write(socket, { ...attachmentOf(socket), state: 'greeted', looks });
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

  /** Makes this socket the one in use. The older ones are told not to come back. */
  welcome(socket: WebSocket): void {
    for (const other of this.#state.getWebSockets(TAG)) {
      if (other !== socket && attachmentOf(other).state === 'welcomed') {
        other.close(CLOSE.replaced, 'a newer connection of this bridge took over');
      }
    }
    write(socket, { ...attachmentOf(socket), state: 'welcomed' });
  }

  /** The socket in use, if its last sign of life is recent enough. */
  current(nowMs: number): WebSocket | null {
    const socket = this.inUse();
    return socket && this.#isAlive(socket, nowMs) ? socket : null;
  }

  /**
   * The socket in use, although it may be dead: the machine of one that is silent may only be asleep, and then gets what is
   * sent meanwhile without another welcome.
   */
  inUse(): WebSocket | null {
    const open = this.#state
      .getWebSockets(TAG)
      .filter(
        (socket) =>
          socket.readyState === WebSocket.OPEN && attachmentOf(socket).state === 'welcomed',
      );
    return open.at(-1) ?? null;
  }

  /** A sign that lies ahead is from before the clock was set back, and says nothing: the next ping does. */
  #isAlive(socket: WebSocket, nowMs: number): boolean {
    const ponged = this.#state.getWebSocketAutoResponseTimestamp(socket)?.getTime() ?? 0;
    const signs = [ponged, attachmentOf(socket).connectedAtMs];
    return signs.some((signMs) => Math.abs(nowMs - signMs) < TUNNEL_LIMITS.deadMs);
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
