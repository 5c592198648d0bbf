/** The server's end of the tunnel, played by a test: it says what the test says, when the test says it. */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type WebSocket, WebSocketServer } from 'ws';
import type { ErrorCode } from '../../../shared/errors.ts';
import {
  BridgeFrame,
  CHALLENGE_HEADER,
  PING,
  PONG,
  TUNNEL_PROTOCOL,
  type TunnelFrame,
} from '../../../shared/wire/tunnel.ts';

type FrameOf<Type extends BridgeFrame['type']> = Extract<BridgeFrame, { type: Type }>;
type Welcome = Extract<TunnelFrame, { type: 'welcome' }>;

/** A WebSocket server on a free port; end it with `await using`. */
export class ScriptedTunnel implements AsyncDisposable {
  readonly #http: Server;
  readonly #sockets = new WebSocketServer({ noServer: true });
  readonly #connections = new Queue<TunnelConnection>();
  /** How the next handshakes are turned away. */
  readonly #refusals: { readonly status: number; readonly body: string }[] = [];

  /** That of the next connections; undefined for a server of before. */
  challenge: string | undefined;

  private constructor(http: Server) {
    this.#http = http;
    this.#sockets.on('headers', (headers) => {
      if (this.challenge !== undefined) headers.push(`${CHALLENGE_HEADER}: ${this.challenge}`);
    });
    http.on('upgrade', (request, socket, head) => {
      const refusal = this.#refusals.shift();
      if (refusal !== undefined) {
        const { status, body } = refusal;
        socket.on('error', () => {}); // The bridge may not read the whole of it.
        const length = Buffer.byteLength(body);
        socket.end(`HTTP/1.1 ${status} No\r\nContent-Length: ${length}\r\n\r\n${body}`);
        return;
      }
      this.#sockets.handleUpgrade(request, socket, head, (end) => {
        this.#connections.put(new TunnelConnection(end, request));
      });
    });
  }

  static async open(): Promise<ScriptedTunnel> {
    const http = createServer();
    await once(http.listen(0, '127.0.0.1'), 'listening');
    return new ScriptedTunnel(http);
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#http.address() as AddressInfo).port}`;
  }

  /** Without a code, the answer is that of something else than Drawbridge. */
  turnAway(status: number, code?: ErrorCode, body = '<html>No</html>'): void {
    const own = JSON.stringify({ error: { code, message: 'No.' } });
    this.#refusals.push({ status, body: code === undefined ? body : own });
  }

  /** The next connection, which may have to come yet. */
  async connection(): Promise<TunnelConnection> {
    return await this.#connections.take();
  }

  /** The next connection, after hello and welcome. */
  async welcomed(open: Partial<Welcome> = {}): Promise<TunnelConnection> {
    const connection = await this.connection();
    await connection.welcome(open);
    return connection;
  }

  /** Cuts every line. */
  cut(): void {
    for (const socket of this.#sockets.clients) socket.terminate();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.cut();
    this.#http.close();
    this.#http.closeAllConnections();
  }
}

export class TunnelConnection {
  readonly path: string | undefined;
  readonly authorization: string | undefined;
  /** The close code. */
  readonly closed: Promise<number>;
  readonly pings = new Queue<typeof PING>();
  /** Whether pings are answered. */
  isAlive = true;
  readonly #socket: WebSocket;
  readonly #frames = new Queue<BridgeFrame>();

  constructor(socket: WebSocket, request: IncomingMessage) {
    this.path = request.url;
    this.authorization = request.headers.authorization;
    this.#socket = socket;
    this.closed = once(socket, 'close').then(([code]) => code);
    socket.on('message', (data) => this.#receive(data.toString()));
  }

  /** Anything: also what is no frame. */
  send(frame: TunnelFrame | string): void {
    this.#socket.send(typeof frame === 'string' ? frame : JSON.stringify(frame));
  }

  /** The next frame of this type; those before it are passed over. */
  async next<Type extends BridgeFrame['type']>(type: Type): Promise<FrameOf<Type>> {
    for (;;) {
      const frame = await this.nextFrame();
      if (frame.type === type) return frame as FrameOf<Type>;
    }
  }

  async nextFrame(): Promise<BridgeFrame> {
    return await this.#frames.take();
  }

  async welcome(open: Partial<Welcome> = {}): Promise<FrameOf<'hello'>> {
    const hello = await this.next('hello');
    const nothing = { calls: [], cancels: [], answers: [] };
    this.send({ type: 'welcome', protocol: TUNNEL_PROTOCOL, ...nothing, ...open });
    return hello;
  }

  /** As a server does that has something to say; without a code the line is cut. */
  close(code?: number, reason?: string): void {
    if (code === undefined) this.#socket.terminate();
    else this.#socket.close(code, reason);
  }

  #receive(text: string): void {
    if (text !== PING) return this.#frames.put(BridgeFrame.parse(JSON.parse(text)));
    this.pings.put(PING);
    if (this.isAlive) this.#socket.send(PONG);
  }
}

/** Items in their order, for one reader at a time. */
export class Queue<Item> {
  readonly #items: Item[] = [];
  readonly #takers: ((item: Item) => void)[] = [];

  put(item: Item): void {
    const taker = this.#takers.shift();
    if (taker) taker(item);
    else this.#items.push(item);
  }

  async take(): Promise<Item> {
    const [item] = this.#items.splice(0, 1);
    return item ?? (await new Promise<Item>((resolve) => this.#takers.push(resolve)));
  }
}
