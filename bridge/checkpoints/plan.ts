/** Works out what an undo would do to each file. It reads no file and changes nothing. */
import { type FileState, type HistoryEntry, UNREAD } from './history.ts';

/** One change that is to be taken back, with its entry. */
export interface Undone {
  readonly entry: HistoryEntry;
  readonly path: string;
  readonly before: FileState | null;
  readonly after: FileState | null;
}

/** A file as the disk has it now; `reason` where it cannot be looked at or must not be changed. */
export type Present =
  | { readonly state: 'there'; readonly file: FileState }
  | { readonly state: 'absent' }
  | { readonly state: 'closed'; readonly reason: string };

/** Why a file stays as it is. */
export type RefusalCode = 'changed' | 'deleted' | 'made_again' | 'mode' | 'not_stored' | 'closed';

export type FilePlan = {
  readonly path: string;
  /** The changes that the plan takes back, the newest first. */
  readonly undone: readonly Undone[];
} & (
  | { readonly action: 'none' }
  /** `now` is what must still be there; null for no file. `isMerged`: the person's later changes stay. */
  | {
      readonly action: 'restore';
      readonly now: FileState | null;
      readonly target: FileState | null;
      readonly isMerged: boolean;
    }
  | { readonly action: 'refuse'; readonly code: RefusalCode; readonly reason: string }
);

/** What a plan asks about contents. All are by hash. */
export interface Contents {
  readonly has: (hash: string) => boolean;
  /** The hash of the merged content, which is then a content too; null where there is no clean merge. */
  readonly merge: (versions: {
    readonly base: string;
    readonly ours: string;
    readonly theirs: string;
  }) => Promise<string | null>;
}

/** `undone` has the changes of one path, the newest first. */
export async function planFile(
  path: string,
  undone: readonly Undone[],
  present: Present,
  contents: Contents,
): Promise<FilePlan> {
  const refuse = (code: RefusalCode, reason = REASONS[code]): FilePlan => ({
    path,
    undone,
    action: 'refuse',
    code,
    reason,
  });
  if (present.state === 'closed') return refuse('closed', present.reason);
  const now = present.state === 'there' ? present.file : null;
  let state = now;
  let isMerged = false;
  for (const { before, after } of undone) {
    if (before === null && after === null) continue; // An undo that found nothing to do.
    if (before?.hash === UNREAD || after?.hash === UNREAD) return refuse('not_stored');
    if (isSame(state, after)) {
      state = before;
      continue;
    }
    if (isSame(state, before)) continue; // The person has taken it back already.
    if (state === null) return refuse('deleted');
    if (after === null) return refuse('made_again');
    if (before === null) return refuse('changed');
    const isOtherMode = before.mode !== after.mode;
    if (isOtherMode && state.mode !== after.mode) return refuse('mode');
    const mode = isOtherMode ? before.mode : state.mode;
    if (before.hash === after.hash || state.hash === before.hash) {
      state = { hash: state.hash, mode };
      continue;
    }
    if (state.hash === after.hash) {
      state = { hash: before.hash, mode };
      continue;
    }
    const versions = { base: after.hash, ours: state.hash, theirs: before.hash };
    if (![versions.base, versions.theirs].every(contents.has)) return refuse('not_stored');
    const hash = await contents.merge(versions);
    if (hash === null) return refuse('changed');
    isMerged = true;
    state = { hash, mode };
  }
  if (isSame(state, now)) return { path, undone, action: 'none' };
  if (state !== null && !contents.has(state.hash)) return refuse('not_stored');
  return { path, undone, action: 'restore', now, target: state, isMerged };
}

/** Refuses every file of an entry whose changes belong together, where one of them is refused. */
export function keepWhole(plans: readonly FilePlan[]): readonly FilePlan[] {
  const refused = new Map<string, FilePlan & { action: 'refuse' }>();
  for (const plan of plans) {
    if (plan.action !== 'refuse') continue;
    for (const { entry } of plan.undone) if (entry.isWhole) refused.set(entry.id, plan);
  }
  const next = plans.map((plan): FilePlan => {
    if (plan.action === 'refuse') return plan;
    const cause = plan.undone.map(({ entry }) => refused.get(entry.id)).find((each) => each);
    if (cause === undefined) return plan;
    const { code, reason } = cause;
    return { path: plan.path, undone: plan.undone, action: 'refuse', code, reason };
  });
  const isStable = next.every((plan, at) => plan === plans[at]);
  return isStable ? plans : keepWhole(next);
}

export function isSame(one: FileState | null, other: FileState | null): boolean {
  return one?.hash === other?.hash && one?.mode === other?.mode;
}

const REASONS: Readonly<Record<RefusalCode, string>> = {
  changed: 'it has changed since, in the same lines',
  deleted: 'it was deleted since',
  made_again: 'a new file has its name',
  mode: 'its mode was changed since',
  not_stored: 'a content that it had is not stored',
  closed: 'it is closed to tools',
};
