/** Waits no longer than a signal allows. */
import { newDeferred } from '../../machine/deferred.ts';

/** Rejects with the signal's reason; the promise's own failure is then passed over. */
export async function within<Value>(promise: Promise<Value>, signal: AbortSignal): Promise<Value> {
  signal.throwIfAborted();
  const { promise: left, reject: leave } = newDeferred<never>();
  const onAbort = () => leave(signal.reason);
  signal.addEventListener('abort', onAbort, { once: true });
  try {
    return await Promise.race([promise, left]);
  } finally {
    signal.removeEventListener('abort', onAbort);
  }
}
