/** Calls to objects that may be restarting under them: repeated where that is safe, told as unavailable where it is not. */
import { DrawbridgeError } from '../shared/errors.ts';

/** Calls from the Worker to an object that is being restarted. */
export const REACH_LIMITS = {
  /** Attempts after the first one, for what may be done twice: a restart takes some tens of milliseconds. */
  maxRepeats: 3,
  /** Before the first repeat, doubled for each further one; up to half is taken off. */
  repeatMs: 100,
  /** What a client is told to wait before it asks again. */
  retryAfterSeconds: 1,
} as const;

/**
 * Makes a call that may be carried out twice, again if its object was reset under it. `call` must take its stub each
 * time: one that failed once fails for ever.
 * @throws {DrawbridgeError} UNAVAILABLE when the object stays away, with `givenUp`. What `call` itself expects, and bugs,
 * are thrown as they came.
 */
export async function reach<Result>(
  call: () => Promise<Result>,
  givenUp: string = AWAY,
): Promise<Result> {
  for (let repeats = 0; ; repeats++) {
    try {
      return await call();
    } catch (error) {
      const fault = faultOf(error);
      const isLast = repeats >= REACH_LIMITS.maxRepeats;
      if (fault === 'overloaded' || (fault === 'reset' && isLast)) {
        throw unavailable(repeats === 0 ? AWAY : givenUp, error);
      }
      if (fault === 'ours' || isLast) throw error;
    }
    await sleep(REACH_LIMITS.repeatMs * 2 ** repeats * (1 - Math.random() / 2));
  }
}

/** What a client is told of anything that was thrown: a call that its object did not live to answer is no bug. */
export function unlessReset(thrown: Error): Error {
  const fault = faultOf(thrown);
  if (fault === 'overloaded') return unavailable(AWAY, thrown);
  return fault === 'reset' ? unavailable(UNKNOWN, thrown) : thrown;
}

/** Of a request that did not get through, or of which nobody knows. */
export function unavailable(message: string, cause?: unknown): DrawbridgeError {
  const { retryAfterSeconds } = REACH_LIMITS;
  return new DrawbridgeError('UNAVAILABLE', message, { details: { retryAfterSeconds }, cause });
}

const AWAY = 'What was asked for is being restarted. Ask again in a moment.';
/** For what the object may have done before it was reset, where asking again would do it once more. */
export const UNKNOWN =
  'A restart came between, and nobody knows whether this was carried out. Look before you send it again; with an ' +
  'Idempotency-Key a message can be sent again as it is.';

/**
 * Whose fault it was, by the marks that the runtime sets: `reset` the object's end, `overloaded` where asking again would only add
 * to the load, `ours` an expected failure or a bug within the object. Without any mark it may be either: a bug in the call,
 * or one of the object's ends that the runtime does not mark.
 */
function faultOf(error: unknown): 'reset' | 'overloaded' | 'ours' | 'unmarked' {
  const { remote, retryable, durableObjectReset, overloaded } = Object(error);
  if (error instanceof DrawbridgeError) return 'ours';
  if (overloaded === true) return 'overloaded';
  if (retryable === true || durableObjectReset === true) return 'reset';
  return remote === true ? 'ours' : 'unmarked';
}

function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
