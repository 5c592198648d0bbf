/** The bridge's one outgoing WebSocket: opened, kept alive, opened again; frames in and out. */
import { WebSocket } from 'ws';
import { TUNNEL_LIMITS } from '../../shared/limits.ts';
import { type BridgeFrame, CLOSE, PING, PONG, TunnelFrame } from '../../shared/tunnel.ts';

/** What the connection tells its owner. Frames between `onOpen` and `onClose` belong to one socket. */
export interface ConnectionEvents {
  /** The socket is open: `hello` must be the first frame. */
  onOpen(send: (frame: BridgeFrame) => void): void;
  onFrame(frame: TunnelFrame): void;
  /** The socket is gone; another attempt follows unless this was final. */
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
    events.onClose(ending.reason);
    if (ending.final) throw new ConnectionRefused(ending.reason);
    failures = ending.wasWelcomed ? 0 : failures + 1;
    await sleep(backoffMs(failures, Math.random()), signal);
  }
}

interface Ending {
  readonly reason: string;
  readonly final: boolean;
  readonly wasWelcomed: boolean;
}

function connectOnce(
  { url, token, bridgeId }: ConnectionConfig,
  events: ConnectionEvents,
  signal: AbortSignal,
): Promise<Ending> {
  const socket = new WebSocket(connectUrl(url, bridgeId), {
    headers: { authorization: `Bearer ${token}` },
    maxPayload: TUNNEL_LIMITS.maxFrameBytes,
    handshakeTimeout: TUNNEL_LIMITS.welcomeMs,
  });
  return new Promise((resolve) => {
    let goodbye: string | undefined;
    let refusal: string | undefined;
    let failure = 'the connection was lost';
    let wasWelcomed = false;
    const alive = watchLife(socket, () => socket.terminate());
    const leave = () => socket.terminate();
    let welcomeTimer: NodeJS.Timeout | undefined;
    signal.addEventListener('abort', leave, { once: true });

    socket.on('open', () => {
      alive.start();
      welcomeTimer = setTimeout(leave, TUNNEL_LIMITS.welcomeMs);
      events.onOpen((frame) => {
        if (socket.readyState === WebSocket.OPEN) socket.send(JSON.stringify(frame));
      });
    });
    socket.on('message', (data) => {
      alive.heard();
      const text = data.toString();
      if (text === PONG) return;
      const frame = parseFrame(text);
      if (!frame) {
        refusal = 'The server sent a frame that this bridge does not know: update the bridge.';
        return socket.close(CLOSE.badFrame);
      }
      if (frame.type === 'goodbye') goodbye = frame.message;
      if (frame.type === 'welcome') {
        wasWelcomed = true;
        clearTimeout(welcomeTimer);
      }
      events.onFrame(frame);
    });
    socket.on('unexpected-response', (request, response) => {
      failure = `the server answered ${response.statusCode}`;
      if (response.statusCode === 401 || response.statusCode === 403) {
        refusal = `The server refused the bridge's token (${response.statusCode}): get a new one.`;
      }
      request.destroy();
      socket.terminate();
    });
    socket.on('error', (error) => {
      failure = error.message;
    });
    socket.on('close', (code) => {
      alive.stop();
      clearTimeout(welcomeTimer);
      signal.removeEventListener('abort', leave);
      const final = refusal ?? finalReason(code, goodbye);
      resolve({ reason: final ?? failure, final: final !== undefined, wasWelcomed });
    });
  });
}

/** Pings, and calls `onDead` when neither the handshake nor a pong came in time. */
function watchLife(socket: WebSocket, onDead: () => void) {
  let heardAt = 0;
  let timer: NodeJS.Timeout | undefined;
  return {
    start(): void {
      heardAt = performance.now();
      timer = setInterval(() => {
        if (performance.now() - heardAt > TUNNEL_LIMITS.deadMs) onDead();
        else if (socket.readyState === WebSocket.OPEN) socket.send(PING);
      }, TUNNEL_LIMITS.pingMs);
    },
    heard(): void {
      heardAt = performance.now();
    },
    stop(): void {
      clearInterval(timer);
    },
  };
}

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
