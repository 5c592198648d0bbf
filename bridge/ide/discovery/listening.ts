/** Finds out whether anything listens on a port, without a word to it. */
import { connect } from 'node:net';
import { DISCOVERY_LIMITS } from './limits.ts';

/**
 * False only where every host refuses: the window of a companion that left its file behind. Where no answer comes in
 * time, the connection's own time limit decides.
 */
export async function isListening(
  port: number,
  hosts: readonly string[],
  signal: AbortSignal,
): Promise<boolean> {
  const answers = await Promise.all(hosts.map((host) => isOpen(port, host, signal)));
  return answers.some((isOpenThere) => isOpenThere);
}

async function isOpen(port: number, host: string, signal: AbortSignal): Promise<boolean> {
  signal.throwIfAborted();
  return await new Promise((resolve) => {
    const socket = connect({ port, host, signal, timeout: DISCOVERY_LIMITS.listeningMs });
    const settle = (isOpenThere: boolean) => {
      socket.destroy();
      resolve(isOpenThere);
    };
    socket.once('connect', () => settle(true));
    socket.once('timeout', () => settle(true));
    socket.once('error', () => settle(false));
  });
}
