/** Connects from this process to servers in a closed network: a program of ours inside it makes the sockets. */
import type { ChildProcess } from 'node:child_process';
import { Socket } from 'node:net';
import { newDeferred } from '../../../machine/deferred.ts';
import { SANDBOX_LIMITS } from '../limits.ts';
import type { Dialer } from '../terminal/process-book.ts';
import { type InsideNetwork, startInside } from './door.ts';

/** Rejects where the network cannot be entered. */
export async function openDialer(place: InsideNetwork): Promise<Dialer> {
  const child = startInside(DIAL, place);
  const ready = newDeferred<void>();
  const waiting = new Map<number, (answer: Socket | Error) => void>();
  const ending = new AbortController();
  child.on('message', (message, handle) => {
    if (message === 'ready') return ready.resolve();
    const { id, error } = Object(message);
    const socket = handle instanceof Socket ? handle : undefined;
    const answer = waiting.get(id);
    waiting.delete(id);
    if (answer) answer(socket ?? new Error(String(error)));
    else socket?.destroy();
  });
  const end = () => {
    ending.abort();
    for (const answer of waiting.values()) answer(GONE);
    waiting.clear();
    ready.reject(GONE);
  };
  child.on('error', end).on('exit', end).on('disconnect', end);
  const limit = setTimeout(() => child.kill('SIGKILL'), SANDBOX_LIMITS.dialMs);
  try {
    await ready.promise;
  } finally {
    clearTimeout(limit);
  }
  return {
    ended: ending.signal,
    connect: numbered(child, waiting, ending.signal),
    [Symbol.dispose]: () => child.kill('SIGKILL'),
  };
}

function numbered(
  child: ChildProcess,
  waiting: Map<number, (answer: Socket | Error) => void>,
  ended: AbortSignal,
): Dialer['connect'] {
  let last = 0;
  return (port) =>
    new Promise((resolve, reject) => {
      if (ended.aborted) return reject(GONE);
      const id = ++last;
      waiting.set(id, (answer) => (answer instanceof Error ? reject(answer) : resolve(answer)));
      // A program that has gone is noticed by its end.
      child.send({ id, port }, () => {});
    });
}

const GONE = new Error('The network of the command cannot be entered any more.');

/**
 * A server at `localhost` may listen on either address. The program reads nothing: a server may speak first, and its
 * bytes belong to the receiver of the socket.
 */
const DIAL = `
const { connect } = require('net');
const dial = (id, port, [host, ...others]) => {
  const socket = connect({ host, port });
  socket.pause();
  socket.once('error', ({ code }) => {
    if (others.length > 0) dial(id, port, others);
    else process.send({ id, error: code });
  });
  socket.once('connect', () => process.send({ id }, socket));
};
process.on('message', ({ id, port }) => dial(id, port, ['127.0.0.1', '::1']));
process.on('disconnect', () => process.exit());
process.send('ready');`;
