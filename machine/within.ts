/** Waits no longer than a signal allows. */
import { addAbortListener } from 'node:events';
import { newDeferred } from './deferred.ts';

/** Rejects with the signal's reason if it has aborted or aborts first; the promise's own failure is then passed over. */
export async function within<Value>(
  given: Value | Promise<Value>,
  signal: AbortSignal,
): Promise<Value> {
  const { promise: left, reject: leave } = newDeferred<never>();
  if (signal.aborted) leave(signal.reason);
  using _listening = addAbortListener(signal, () => leave(signal.reason));
  return await Promise.race([left, given]);
}
