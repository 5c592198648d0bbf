/**
 * What a restored backup must not take for its own. Clients, bridges and receivers may know a future of this data that
 * the restore took back: positions of it must not come to mean something else, and unfinished work must not be done
 * twice. local/state/restored.ts makes the variables.
 */

export interface RestoredEnv {
  /** When the data was last restored from a backup, epoch milliseconds. */
  readonly RESTORED_AT?: string;
  /** The first position that tapes give out after it: beyond all positions of all futures before. */
  readonly FIRST_POSITION?: string;
  /** JSON: the two variables for each object whose file alone was restored since, by its id. */
  readonly RESTORED_FILES?: string;
}

/** What an object is to know of the last restore: that of its own file, where that was restored alone. */
export function restoredFor<Env extends RestoredEnv>(
  env: Env,
  { id }: Pick<DurableObjectState, 'id'>,
): Env {
  if (env.RESTORED_FILES === undefined) return env;
  const files = JSON.parse(env.RESTORED_FILES) as Readonly<Record<string, RestoredEnv>>;
  return { ...env, ...files[String(id)] };
}

/** Whether something was begun before the last restore. What begins after `nowMs` was: the clock was ahead then. */
export function wasTakenBack({ RESTORED_AT }: RestoredEnv, atMs: number, nowMs: number): boolean {
  const restoredMs = Number(RESTORED_AT) || 0;
  return restoredMs > 0 && (atMs < restoredMs || atMs > nowMs);
}

/** The first position that a tape may give out; 0 without a restore. It is exact in a double. */
export function firstPositionOf({ FIRST_POSITION }: RestoredEnv): number {
  return Number(FIRST_POSITION) || 0;
}
