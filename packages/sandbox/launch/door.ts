/**
 * A door of a closed network: a port at its loopback interface whose connections come to this process. A socket belongs
 * for good to the network that it was made in, and may be handed to a process of another one.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { Server } from 'node:net';
import { setImmediate } from 'node:timers/promises';
import { SANDBOX_LIMITS } from '../limits.ts';

/** Where a program of ours is started, by descriptors. */
export interface InsideNetwork {
  readonly nsenter: string;
  /** The user namespace above the network; undefined where root enters the network as it is. */
  readonly user: number | undefined;
  readonly network: number;
}

/** Aborts its signal when its network is given up. */
export class NetworkDoor implements Disposable {
  /** Listens already. The caller that opened the door accepts its connections. */
  readonly listener: Server;
  readonly port: number;
  readonly #ending = new AbortController();

  constructor(listener: Server) {
    this.listener = listener;
    const address = listener.address();
    this.port = typeof address === 'object' && address !== null ? address.port : 0;
  }

  get ended(): AbortSignal {
    return this.#ending.signal;
  }

  [Symbol.dispose](): void {
    this.#ending.abort();
    this.listener.close();
  }
}

/** Opens a door at a free port. Rejects where the network cannot be entered. */
export async function openDoor(place: InsideNetwork): Promise<NetworkDoor> {
  const listener = await socketFromInside(LISTEN, place);
  if (listener instanceof Server) return new NetworkDoor(listener);
  throw new Error('The network of the conversation could not be entered.');
}

/**
 * By the IPC channel of Node: it sends sockets along with messages. Until the program ends, it shares the socket, and
 * would take some of its connections.
 */
const LISTEN = `
const server = require('net').createServer();
const done = () => { server.close(); process.disconnect(); };
server.listen(0, '127.0.0.1', () => process.send('door', server, done));`;

/** Runs a script of ours in the network, which sends one socket and ends. */
async function socketFromInside(script: string, place: InsideNetwork): Promise<unknown> {
  const child = startInside(script, place);
  const signal = AbortSignal.timeout(SANDBOX_LIMITS.doorMs);
  let socket: unknown;
  child.on('message', (_message, handle) => {
    socket = handle;
  });
  try {
    // It exited, and all of its messages have come.
    await Promise.all(['exit', 'disconnect'].map((event) => once(child, event, { signal })));
    await setImmediate();
    return socket;
  } finally {
    child.kill('SIGKILL');
  }
}

/**
 * Starts a script of ours in the network, with a channel of messages. It runs outside of the sandbox, with nothing of the
 * workspace: no variable, no file.
 */
export function startInside(
  script: string,
  { nsenter, user, network }: InsideNetwork,
): ChildProcess {
  const descriptors = user === undefined ? [network] : [network, user];
  const enter = [
    `--net=/proc/self/fd/${FIRST}`,
    ...(user === undefined ? [] : [`--user=/proc/self/fd/${FIRST + 1}`, '--preserve-credentials']),
  ];
  return spawn(nsenter, [...enter, '--', process.execPath, '-e', script], {
    cwd: '/',
    env: {},
    stdio: ['ignore', 'ignore', 'ignore', 'ipc', ...descriptors],
  });
}

/** Behind the standard descriptors and the channel. */
const FIRST = 4;
