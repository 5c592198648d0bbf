/** The watchdog of a stream: a silent connection counts as dead, even if the network stack reports no error. */

import type { Clock } from './clock.ts';
import { clientError } from './error.ts';
import { CLIENT_LIMITS } from './limits.ts';

/**
 * Resolves as `arrival` does, or throws `UNREACHABLE` after `silentMs`. The time counts only while the caller waits: a
 * slow consumer between two reads does not make a dead connection.
 */
export async function unlessSilent<T>(arrival: Promise<T>, clock: Clock): Promise<T> {
  const watch = new AbortController();
  const { silentMs, wakeSilentMs } = CLIENT_LIMITS;
  const silence = clock.sleep(silentMs, watch.signal, wakeSilentMs).then(() => {
    throw clientError('UNREACHABLE', 'The connection fell silent');
  });
  try {
    return await Promise.race([arrival, silence]);
  } finally {
    watch.abort();
  }
}
