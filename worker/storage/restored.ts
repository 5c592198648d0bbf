/**
 * What a restored backup must not take for its own. Clients, bridges and receivers may know a future of this data that
 * the restore took back: positions of it must not come to mean something else, and what was at work then must not be
 * done twice.
 */

export interface RestoredEnv {
  /** When the data was last restored from a backup, epoch milliseconds. A new restore needs a later time. */
  readonly RESTORED_AT?: string;
}

/** Epoch milliseconds; 0 if the data was never restored. */
export function restoredMsOf({ RESTORED_AT }: RestoredEnv): number {
  return Number(RESTORED_AT) || 0;
}

/**
 * The first position that a tape may give out after the restore; 0 if there was none. It grows by 2^22 a second: faster
 * than any tape, so it is beyond all positions of all futures before, also where one backup is restored several times.
 * It stays exact in a double until 2094.
 */
export function firstPositionOf(env: RestoredEnv): number {
  const seconds = Math.floor((restoredMsOf(env) - SINCE_MS) / 1000);
  return Math.max(0, seconds * POSITIONS_A_SECOND);
}

/** Before the first backup. */
const SINCE_MS = Date.UTC(2026, 0, 1);
/** Four starts of an instance, of which each leaves 2^20 positions free (TAPE_LIMITS.jump), and a million characters. */
const POSITIONS_A_SECOND = 2 ** 22;
