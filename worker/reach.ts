/** Handles calls to objects that restart: repeats a call if that is safe, else reports UNAVAILABLE. */
import { DrawbridgeError } from '../shared/errors.ts';
import { isDamage } from './storage/damage.ts';
import { NEWER_TABLES } from './storage/migrations.ts';

/** The limits of repeated calls to an object that restarts. */
export const REACH_LIMITS = {
  /** Attempts after the first one. A restart takes some tens of milliseconds. */
  maxRepeats: 3,
  /** Delay before the first repeat. Doubled for each further one, then shortened by up to half at random. */
  repeatMs: 100,
  /** How long a call to another object may take that waits for no person: a bridge looks for 8 s at most. */
  callMs: 20_000,
  /** The `Retry-After` that a client gets. */
  retryAfterSeconds: 1,
} as const;

/**
 * Makes a call that may safely run twice, and repeats it if its object was reset. `call` must make a new stub each
 * time: a stub that failed once fails for ever.
 * @throws {DrawbridgeError} UNAVAILABLE with the message `givenUp` if the object does not come back, DAMAGED and
 * STORAGE_FULL. Expected failures of `call` and bugs are thrown unchanged.
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
      const stored = storageFault(error, isLast);
      if (stored) throw stored;
      if (fault === 'overloaded' || (fault === 'reset' && isLast)) {
        throw unavailable(repeats === 0 ? AWAY : givenUp, error);
      }
      if (fault === 'ours' || isLast) throw error;
    }
    await sleep(REACH_LIMITS.repeatMs * 2 ** repeats * (1 - Math.random() / 2));
  }
}

/**
 * The outcome of a call to an object, which can hang without being reset.
 * @throws {DrawbridgeError} UNAVAILABLE after REACH_LIMITS.callMs, and as the call.
 */
export async function inTime<Result>(call: Promise<Result>): Promise<Result> {
  const { promise: late, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(unavailable(UNKNOWN)), REACH_LIMITS.callMs);
  try {
    return await Promise.race([call, late]);
  } finally {
    clearTimeout(timer);
  }
}

/**
 * DAMAGED or STORAGE_FULL for what SQLite says of an object's file; null for anything else. `isSure`: whether the object
 * has failed often enough that its file cannot be opened, which the runtime calls an internal error.
 */
export function storageFault(error: unknown, isSure = false): DrawbridgeError | null {
  const message =
    error instanceof Error && !(error instanceof DrawbridgeError) ? error.message : '';
  if (message.includes('SQLITE_FULL')) {
    return new DrawbridgeError('STORAGE_FULL', FULL, { cause: error });
  }
  const isUnopened = isSure && message.startsWith('internal error');
  if (!isUnopened && !isDamage(error)) return null;
  return new DrawbridgeError('DAMAGED', DAMAGED, { cause: error });
}

/** As {@link storageFault}, or UNAVAILABLE for a reset or overloaded object, NOT_CONFIGURED for newer data; else unchanged. */
export function unlessReset(thrown: Error, isSure = false): Error {
  const stored = storageFault(thrown, isSure);
  if (stored) return stored;
  if (isOfNewerData(thrown))
    return new DrawbridgeError('NOT_CONFIGURED', NEWER_TABLES, { cause: thrown });
  const fault = faultOf(thrown);
  if (fault === 'overloaded') return unavailable(AWAY, thrown);
  return fault === 'reset' ? unavailable(UNKNOWN, thrown) : thrown;
}

/** Whether an object refused its data: no attempt of this program can succeed. */
export function isOfNewerData(error: unknown): boolean {
  return error instanceof Error && error.message.includes(NEWER_TABLES);
}

/** The error for a request that did not reach its object, or whose effect is unknown. */
export function unavailable(message: string, cause?: unknown): DrawbridgeError {
  const { retryAfterSeconds } = REACH_LIMITS;
  return new DrawbridgeError('UNAVAILABLE', message, { details: { retryAfterSeconds }, cause });
}

const FULL =
  'The disk of this server is full: its operator must free some of it, such as old files in `backups/` and `logs/` of the state folder.';
const DAMAGED =
  'What is stored of this is damaged or cannot be opened, so sending it again does not help. The operator finds it in the log, and with `drawbridge check --state`.';
const AWAY = 'The service for this request is restarting. Try again in a moment.';
/** The message if the object may have carried out the request before its reset, and a repeat would do it twice. */
export const UNKNOWN =
  'The service restarted during this request, which may or may not have been carried out. Check before you send it ' +
  'again. A message with an Idempotency-Key can safely be sent again.';

/**
 * The cause of an error, by the marks that the runtime sets. `reset`: the object ended. `overloaded`: a repeat would
 * only add to the load. `ours`: an expected failure, or a bug inside the object. `unmarked`: a bug in the call, or an
 * end of the object that the runtime does not mark.
 */
function faultOf(error: unknown): 'reset' | 'overloaded' | 'ours' | 'unmarked' {
  const { remote, retryable, durableObjectReset, overloaded } = Object(error);
  if (error instanceof DrawbridgeError || isOfNewerData(error)) return 'ours';
  if (overloaded === true) return 'overloaded';
  if (retryable === true || durableObjectReset === true) return 'reset';
  return remote === true ? 'ours' : 'unmarked';
}

function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
