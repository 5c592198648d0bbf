/** Follows over a WebSocket as a client does, with acks when the test wants them. */
import { SELF } from 'cloudflare:test';
import { StreamEvent } from '../../../shared/wire/events.ts';
import { tokenFor } from '../api.ts';
import type { ReadEvent } from './sse-reader.ts';

export interface Closed {
  readonly code: number;
  readonly reason: string;
}

export interface SocketOptions {
  readonly account?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Acknowledges each message; true by default. */
  readonly acks?: boolean;
}

export class SocketReader {
  /** The events of each message so far, heartbeats included. */
  readonly messages: { event: StreamEvent; position: number | null }[][] = [];
  closed: Closed | undefined;
  readonly #socket: WebSocket;
  #isLeaving = false;
  #heard = Promise.withResolvers<void>();

  constructor(socket: WebSocket, { acks = true }: SocketOptions = {}) {
    this.#socket = socket;
    socket.addEventListener('message', ({ data }) => {
      const message = JSON.parse(String(data)) as { event: unknown; position: number | null }[];
      this.messages.push(
        message.map(({ event, position }) => ({ event: StreamEvent.parse(event), position })),
      );
      if (acks && !this.#isLeaving) this.ack();
      this.#wake();
    });
    socket.addEventListener('close', ({ code, reason }) => {
      this.closed = { code, reason };
      this.#wake();
    });
    socket.accept();
  }

  /** All events so far, without heartbeats. */
  get events(): ReadEvent[] {
    return this.messages
      .flat()
      .flatMap(({ event, position }) => (position === null ? [] : [{ id: position, event }]));
  }

  /** Says that everything so far has arrived. */
  ack(): void {
    const last = this.events.at(-1);
    if (last) this.send(JSON.stringify({ ack: last.id }));
  }

  send(data: string | ArrayBuffer): void {
    this.#socket.send(data);
  }

  /** Reads on until the condition holds; fails when the socket closes before. */
  async until(condition: (events: readonly ReadEvent[]) => boolean): Promise<ReadEvent[]> {
    while (!condition(this.events)) {
      if (this.closed) throw new Error(`closed with ${JSON.stringify(this.closed)}`);
      await this.#heard.promise;
    }
    return this.events;
  }

  untilType(type: StreamEvent['type']): Promise<ReadEvent[]> {
    return this.until((events) => events.some(({ event }) => event.type === type));
  }

  async toClose(): Promise<Closed> {
    while (!this.closed) await this.#heard.promise;
    return this.closed;
  }

  /** Everything up to the end of the response, which closes the socket with 1000. */
  async toEnd(): Promise<ReadEvent[]> {
    const { code } = await this.toClose();
    if (code !== 1000) throw new Error(`closed with ${JSON.stringify(this.closed)}`);
    return this.events;
  }

  async leave(): Promise<void> {
    this.#isLeaving = true;
    this.#socket.close(1000, 'leaving');
    await this.toClose();
  }

  #wake(): void {
    this.#heard.resolve();
    this.#heard = Promise.withResolvers<void>();
  }
}

/** Opens `/api/v1/...` with an upgrade. */
export async function upgrade(
  path: string,
  { account = 'ada', headers }: SocketOptions = {},
): Promise<Response> {
  return await SELF.fetch(`https://drawbridge.test/api/v1/${path}`, {
    headers: {
      upgrade: 'websocket',
      ...(headers ?? { authorization: `Bearer ${await tokenFor({ account })}` }),
    },
  });
}

export async function openSocket(path: string, options: SocketOptions = {}): Promise<SocketReader> {
  const response = await upgrade(path, options);
  if (!response.webSocket) throw new Error(`refused: ${response.status} ${await response.text()}`);
  return new SocketReader(response.webSocket, options);
}
