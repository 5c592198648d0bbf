/** A proxy on a real socket of this machine, with hosts that only its resolver knows. */
import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import { onTestFinished } from 'vitest';
import { hostText } from '../../../../shared/text/hosts.ts';
import { portOf } from '../../../../test/far-ends/listening.ts';
import type { Pass } from '../../egress/pass.ts';
import { HostProxy, type HostVerdict, type JudgeHost } from '../../egress/proxy.ts';
import type { Resolver } from '../../egress/reach.ts';
import { NetworkDoor } from '../../launch/door.ts';

export interface Proxied {
  readonly door: NetworkDoor;
  readonly pass: Pass;
  readonly proxy: HostProxy;
  /** The hosts that were judged and looked up, in order. */
  readonly judged: string[];
  readonly lookedUp: string[];
  /** Sends bytes to the proxy; gives all that comes back until it closes. */
  readonly send: (text: string, more?: readonly string[]) => Promise<string>;
  readonly credentials: string;
}

export async function proxied({
  judge = async () => OPEN,
  resolver = {},
}: {
  readonly judge?: JudgeHost;
  readonly resolver?: Partial<Resolver>;
} = {}): Promise<Proxied> {
  const listener = createServer();
  listener.listen(0, '127.0.0.1');
  await once(listener, 'listening');
  const door = new NetworkDoor(listener);
  onTestFinished(() => door[Symbol.dispose]());
  const judged: string[] = [];
  const lookedUp: string[] = [];
  const proxy = new HostProxy(door, {
    judge: async (target, grant) => {
      judged.push(`${target.host}:${target.port}`);
      return await judge(target, grant);
    },
    resolver: {
      lookup: async (host) => {
        lookedUp.push(host);
        return (await resolver.lookup?.(host)) ?? [{ address: '127.0.0.1', family: 4 }];
      },
      isPublic: resolver.isPublic ?? (() => true),
    },
  });
  const pass = proxy.admit({ conversationId: 'conv_test', hosts: [] });
  const credentials = `Proxy-Authorization: ${basic(pass.token)}\r\n`;
  return {
    door,
    pass,
    proxy,
    judged,
    lookedUp,
    credentials,
    send: (text) => exchange(door.port, text),
  };
}

export const OPEN: HostVerdict = { isOpen: true, reach: 'public' };

/** For a judge that knows the hosts that it opens. */
export const only =
  (...hosts: readonly string[]): JudgeHost =>
  async (target) =>
    hosts.includes(hostText(target)) ? OPEN : { isOpen: false, reason: 'Ask with hosts.' };

export function basic(token: string): string {
  return `Basic ${Buffer.from(`x:${token}`).toString('base64')}`;
}

async function exchange(port: number, text: string): Promise<string> {
  const socket = connect(port, '127.0.0.1');
  let received = '';
  socket.setEncoding('latin1').on('data', (more: string) => {
    received += more;
  });
  socket.on('error', () => {});
  socket.write(text, 'latin1');
  await once(socket, 'close');
  return received;
}

/** A server of plain text that answers each connection with what it was sent first, and closes. */
export async function echoServer(): Promise<{ readonly port: number; readonly seen: string[] }> {
  const seen: string[] = [];
  const server = createServer((socket) => {
    socket.on('error', () => {});
    socket.once('data', (bytes) => {
      seen.push(bytes.toString('latin1'));
      socket.end('HTTP/1.1 200 OK\r\nContent-Length: 5\r\nConnection: close\r\n\r\nhello');
    });
  });
  return { port: await portOf(server), seen };
}
