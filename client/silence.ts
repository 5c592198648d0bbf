/** The watchdog of a stream: a connection that brings nothing is dead, whatever the network stack believes. */

import type { Clock } from './clock.ts';
import { clientError } from './error.ts';
import { CLIENT_LIMITS } from './limits.ts';

/**
 * What `arrival` comes to, or a throw when it takes longer than a live connection is ever silent. The watch runs
 * only while someone waits: a consumer that takes its time between two reads is not a dead connection.
 */
export async function unlessSilent<T>(arrival: Promise<T>, clock: Clock): Promise<T> {
  const watch = new AbortController();
  const silence = clock.sleep(CLIENT_LIMITS.silentMs, watch.signal).then(() => {
    throw clientError('UNREACHABLE', 'The connection fell silent');
  });
  try {
    return await Promise.race([arrival, silence]);
  } finally {
    watch.abort();
  }
}
