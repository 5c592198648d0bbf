/** Waiting until the Worker answers. */
import { setTimeout as sleep } from 'node:timers/promises';
import { LocalError } from '../machine/local-error.ts';
import { LOCAL_LIMITS } from '../shared/limits.ts';

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
    // Not listening yet, or being restarted: the next try will tell.
    return 'no answer';
  }
}
