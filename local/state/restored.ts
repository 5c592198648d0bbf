/** What `state.json` says of the last restore from a backup. The Worker gets it: see worker/storage/restored.ts. */
import { LocalError } from '../../machine/local-error.ts';
import { replaceFile } from '../../machine/private-files.ts';
import { formatPath, readFormat, type StateFormat } from './format.ts';

export interface RestoredState {
  /** When it was, by this machine's clock, epoch milliseconds. */
  readonly restoredMs: number;
  /** Beyond all positions of all futures before. */
  readonly firstPosition: number;
}

/**
 * What a restore at `now` writes, of a backup in which `before` stands. The first position grows by 2^22 a second:
 * faster than any tape. So two restores of one backup in different seconds share no position that is new to the backup.
 * Where the clock was ahead at an earlier restore, it goes on from there.
 * @throws {LocalError} if the clock is years off.
 */
export function newRestored(before: StateFormat | undefined, now: Date): RestoredState {
  const restoredMs = now.getTime();
  const earlier = before && latestOf(before);
  const from =
    earlier && secondOf(restoredMs) > secondOf(earlier.restoredMs) ? earlier.restoredMs : SINCE_MS;
  const passed = secondOf(restoredMs) - secondOf(from);
  const firstPosition = (earlier?.firstPosition ?? 0) + passed * POSITIONS_A_SECOND;
  if (restoredMs >= SINCE_MS && firstPosition <= MAX_FIRST_POSITION) {
    return { restoredMs, firstPosition };
  }
  const message = `This machine's clock shows ${now.toISOString()}: set it right, because a restore counts positions by the clock. Nothing was restored.`;
  throw new LocalError('refused', message);
}

/** The last restores of the claimed state; as if at `now` where the clock was ahead then. */
export async function settleRestored(dir: string, now: Date): Promise<SettledRestores> {
  const format = await readFormat(dir);
  const settled = (restored: RestoredState) => {
    return { ...restored, restoredMs: Math.min(restored.restoredMs, now.getTime()) };
  };
  const found = format && restoredOf(format);
  const whole = found && settled(found);
  const files = Object.fromEntries(
    Object.entries(format?.restoredFiles ?? {}).map(([name, file]) => [name, settled(file)]),
  );
  const latest = format && latestOf(format);
  if (latest && latest.restoredMs > now.getTime()) {
    const changed = { ...format, ...whole, ...(format.restoredFiles && { restoredFiles: files }) };
    replaceFile(formatPath(dir), JSON.stringify(changed));
  }
  return { whole, files };
}

/** The restores that a state remembers: of the whole, and of single files since, by the names of their objects. */
export interface SettledRestores {
  readonly whole: RestoredState | undefined;
  readonly files: Readonly<Record<string, RestoredState>>;
}

/** That with the highest position, whatever it was of. */
function latestOf(format: StateFormat): RestoredState | undefined {
  const all = [restoredOf(format), ...Object.values(format.restoredFiles ?? {})];
  return all.reduce((one, other) => {
    return one && other && one.firstPosition > other.firstPosition ? one : (other ?? one);
  });
}

/** Earlier formats had only the time. */
function restoredOf({ restoredMs, firstPosition }: StateFormat): RestoredState | undefined {
  if (restoredMs === undefined) return undefined;
  const byTime = Math.max(0, secondOf(restoredMs) - secondOf(SINCE_MS)) * POSITIONS_A_SECOND;
  return { restoredMs, firstPosition: firstPosition ?? byTime };
}

/** Whole seconds of the clock, so that two restores in different ones differ by one at least. */
function secondOf(ms: number): number {
  return Math.floor(ms / 1000);
}

/** Before the first backup. */
const SINCE_MS = Date.UTC(2026, 0, 1);
/** Four starts of an instance, and a million characters. Each start leaves 2^20 positions free (TAPE_LIMITS.jump). */
const POSITIONS_A_SECOND = 2 ** 22;
/** Leaves 49 days at that rate up to what a double holds exactly. A clock reaches it in 2093. */
const MAX_FIRST_POSITION = Number.MAX_SAFE_INTEGER - 2 ** 44;
