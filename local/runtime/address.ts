/** Checks the Worker's port before the start and its health after the start. */
import { once } from 'node:events';
import { createServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { LocalError } from '../../machine/local-error.ts';
import { isSystemError } from '../../machine/system-error.ts';
import { LOCAL_LIMITS } from '../limits.ts';

/** The address on which only this machine reaches the Worker. */
export const LOOPBACK = '127.0.0.1';

/** The URL at which this machine reaches a Worker that listens on this address. */
export function urlOf(port: number, host = LOOPBACK): string {
  const reached = host === '0.0.0.0' ? LOOPBACK : host === '::' ? '::1' : host;
  return `http://${hostInUrl(reached)}:${port}`;
}

/** An address as URLs and workerd's command line have it. */
export function hostInUrl(host: string): string {
  return host.includes(':') ? `[${host}]` : host;
}

/** Checks the port before the Worker starts on it; 0 always passes. @throws {LocalError} if it cannot be had. */
export async function requireFreePort(port: number, host = LOOPBACK): Promise<void> {
  const server = createServer();
  try {
    server.listen({ host, port });
    await once(server, 'listening');
  } catch (error) {
    if (isSystemError(error, 'EADDRNOTAVAIL')) {
      const text = `This machine has no address ${host}: give another --host, such as ${LOOPBACK}.`;
      throw new LocalError('refused', text, { cause: error });
    }
    const reason = isSystemError(error, 'EADDRINUSE')
      ? 'is in use by another program'
      : 'is not one that you may open';
    throw new LocalError(
      'refused',
      `Port ${port} ${reason}: choose another with --port, or 0 for any free one.`,
      { cause: error },
    );
  } finally {
    server.close();
  }
}

/** Asks `GET /health` until it answers 200. @throws {LocalError} if it never does. */
export async function waitUntilHealthy(url: string, signal: AbortSignal): Promise<void> {
  const deadline = AbortSignal.timeout(LOCAL_LIMITS.healthyMs);
  const either = AbortSignal.any([signal, deadline]);
  let last = 'no answer';
  while (!either.aborted) {
    last = await askHealth(url, either);
    if (last === '200') return;
    await sleep(LOCAL_LIMITS.healthPollMs);
  }
  signal.throwIfAborted();
  throw new LocalError('failed', `The Worker did not become healthy: GET /health gave ${last}.`);
}

async function askHealth(url: string, signal: AbortSignal): Promise<string> {
  try {
    const response = await fetch(`${url}/health`, { signal });
    await response.body?.cancel();
    return `${response.status}`;
  } catch {
    // The Worker is not listening yet, or is being restarted: the next try shows it.
    return 'no answer';
  }
}
