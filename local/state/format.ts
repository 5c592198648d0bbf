/** `state.json`: the format of a state folder, and which version wrote it. */
import { join } from 'node:path';
import * as z from 'zod';
import { LocalError } from '../../machine/local-error.ts';
import { readIfThere } from '../../machine/private-files.ts';
import { OWN_VERSION } from '../own-root.ts';

/** One way from a format to the next. */
export interface FormatStep {
  /** Migrations of the objects' tables that are part of the new format: each object runs its own (worker/storage/). */
  readonly tables: Readonly<Record<'conversation' | 'tunnel' | 'account', number>> & {
    /** Absent in steps from before the directory was counted. */
    readonly directory?: number;
  };
  /**
   * The files that change: paths in the folder with their new text, or null for a file to be removed. Only reads; a
   * failure leaves the state as it was. Absent where only tables change.
   */
  readonly change?: (dir: string) => Promise<Readonly<Record<string, string | null>>>;
}

/**
 * `FORMAT_STEPS[n]` leads from format n to n + 1. It never changes once released; a new migration of an object's tables,
 * and a new event of a tape, takes a new step, a higher version of the package, and a line in CHANGELOG.md. Format 0 is
 * every state from before `state.json`.
 */
export const FORMAT_STEPS: readonly FormatStep[] = [
  { tables: { conversation: 10, tunnel: 5, account: 4 } },
  { tables: { conversation: 11, tunnel: 6, account: 4 } },
  { tables: { conversation: 11, tunnel: 6, account: 5 } },
  // The first position after a restore stands in `state.json`.
  { tables: { conversation: 11, tunnel: 6, account: 5 } },
  { tables: { conversation: 11, tunnel: 6, account: 6 } },
  { tables: { conversation: 12, tunnel: 6, account: 7 } },
  { tables: { conversation: 12, tunnel: 6, account: 9 } },
  { tables: { conversation: 12, tunnel: 6, account: 12 } },
  { tables: { conversation: 12, tunnel: 6, account: 12, directory: 5 } },
  { tables: { conversation: 12, tunnel: 6, account: 13, directory: 5 } },
  // A session's notifications may go to a topic of ntfy.
  { tables: { conversation: 12, tunnel: 6, account: 13, directory: 5 } },
  // Files that were restored alone stand in `state.json`.
  { tables: { conversation: 12, tunnel: 6, account: 13, directory: 5 } },
  // What a model does not get, because its server refused it.
  { tables: { conversation: 13, tunnel: 6, account: 13, directory: 5 } },
  // Pieces of large images.
  { tables: { conversation: 14, tunnel: 6, account: 13, directory: 5 } },
];

/** The text of `state.json`. */
export const StateFormat = z.object({
  format: z.int().nonnegative(),
  /** The version of Drawbridge that made or upgraded the state. */
  writtenBy: z.string(),
  /**
   * When the state was last restored from a backup, epoch milliseconds, and the first position since then. Positions,
   * calls and tickets from before mean nothing to it: see local/state/restored.ts.
   */
  restoredMs: z.int().positive().optional(),
  firstPosition: z.int().nonnegative().optional(),
  /** The same for single files that were restored since, by the names of their objects. */
  restoredFiles: z
    .record(
      z.string(),
      z.object({ restoredMs: z.int().positive(), firstPosition: z.int().nonnegative() }),
    )
    .optional(),
  /** Whether an upgrade has come no further yet. The backup from before it is there already. */
  isUpgrading: z.literal(true).optional(),
});
export type StateFormat = z.infer<typeof StateFormat>;

/** What a state gets that this version makes or has upgraded. */
export const PRESENT_FORMAT: StateFormat = { format: FORMAT_STEPS.length, writtenBy: OWN_VERSION };

export function formatPath(dir: string): string {
  return join(dir, 'state.json');
}

/** The format of a state; undefined without `state.json`. @throws {LocalError} for a damaged file. */
export async function readFormat(dir: string): Promise<StateFormat | undefined> {
  const path = formatPath(dir);
  const text = await readIfThere(path);
  if (text === undefined) return undefined;
  try {
    return StateFormat.parse(JSON.parse(text));
  } catch (cause) {
    const message = `${path} is damaged: put it back from a backup. It says which version of Drawbridge can read this state.`;
    throw new LocalError('refused', message, { cause });
  }
}

/** The format of a state that another process may use; undefined without `state.json`. @throws as {@link refuseNewer}. */
export async function readKnownFormat(dir: string): Promise<StateFormat | undefined> {
  const found = await readFormat(dir);
  if (found) refuseNewer(`The state ${dir}`, found, FORMAT_STEPS.length);
  return found;
}

/** @throws {LocalError} if `found` is newer than `known`, which names what has that format. */
export function refuseNewer(what: string, found: StateFormat, known: number): void {
  if (found.format <= known) return;
  const isOwn = found.writtenBy === OWN_VERSION;
  const wanted = isOwn
    ? `a later commit of ${OWN_VERSION}, or a version after it`
    : `version ${found.writtenBy} or a later one`;
  throw new LocalError(
    'refused',
    `${what} has format ${found.format}, written by Drawbridge ${found.writtenBy}; this is Drawbridge ${OWN_VERSION}, which knows format ${known}: install ${wanted}. Nothing was changed.`,
  );
}
