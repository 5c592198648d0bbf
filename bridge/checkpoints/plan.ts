/** Works out what an undo would do to each file. It reads no file and changes nothing. */
import { type FileState, type HistoryEntry, type PathChange, targetOf, UNREAD } from './history.ts';

/** One change that is to be taken back, with its entry. */
export interface Undone extends PathChange {
  readonly entry: HistoryEntry;
}

/** What the disk has at a path now. */
export type Present =
  | { readonly state: 'there'; readonly file: FileState }
  | { readonly state: 'absent' }
  /** Tools must not look at it, or not change it. */
  | { readonly state: 'closed'; readonly reason: string }
  /** Something else has the place: a folder, or at `by` (a path above, or this one) a file or a link. */
  | { readonly state: 'taken'; readonly by: string; readonly reason: string };

/** Why a file stays as it is. */
export type RefusalCode =
  | 'changed'
  | 'deleted'
  | 'made_again'
  | 'mode'
  | 'not_stored'
  | 'closed'
  | 'taken'
  | 'only_copy'
  | 'foreign'
  | 'failed';

interface KeptBecause {
  readonly code: RefusalCode;
  readonly reason: string;
}

export type FilePlan = {
  readonly path: string;
  /** The changes that the plan is about, the newest first. All but those of a refusal are taken back. */
  readonly undone: readonly Undone[];
  /** What must still be there; null for nothing, and for what was not looked at. */
  readonly now: FileState | null;
} & (
  | { readonly action: 'none' }
  | {
      readonly action: 'restore';
      readonly target: FileState | null;
      /** The person's later changes stay. */
      readonly isMerged: boolean;
      /** Why older changes of the file stay. */
      readonly left?: KeptBecause & { readonly undone: readonly Undone[] };
      /** For a content that is put beside the path that had it. */
      readonly of?: string;
      /** For a content from where no look reads, which may have no other place. */
      readonly isForeign?: true;
      /** What it takes away may be an edited copy of a file from there, for which a redo is the only way back. */
      readonly isDoubtful?: true;
    }
  | ({ readonly action: 'refuse' } & KeptBecause)
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

/**
 * `undone` has the changes of one path, the newest first. Where one cannot be taken back, the newer ones still are: what
 * a command deleted of the person's comes back, although an earlier change of the same file stays.
 */
export async function planFile(
  path: string,
  undone: readonly Undone[],
  present: Present,
  contents: Contents,
): Promise<FilePlan> {
  const now = present.state === 'there' ? present.file : null;
  const refuse = (code: RefusalCode, reason = REASONS[code]): FilePlan => {
    return { path, undone, now, action: 'refuse', code, reason };
  };
  if (present.state === 'closed' || present.state === 'taken')
    return refuse(present.state, present.reason);
  let state = now;
  let isMerged = false;
  for (const [at, change] of undone.entries()) {
    const next = await before(change, state, contents);
    if (typeof next !== 'string') {
      isMerged ||= next?.isMerged === true;
      state = next && { hash: next.hash, mode: next.mode };
      continue;
    }
    if (isSame(state, now) || !(state === null || contents.has(state.hash))) return refuse(next);
    const left = { code: next, reason: REASONS[next], undone: undone.slice(at) };
    const taken = undone.slice(0, at);
    const restored = { action: 'restore', target: state, isMerged, left } as const;
    return { path, undone: taken, now, ...restored, ...doubtOf(taken, now) };
  }
  if (isSame(state, now)) return { path, undone, now, action: 'none' };
  if (state !== null && !contents.has(state.hash)) return refuse('not_stored');
  const restored = { action: 'restore', target: state, isMerged } as const;
  return { path, undone, now, ...restored, ...doubtOf(undone, now) };
}

function doubtOf(taken: readonly Undone[], now: FileState | null): { readonly isDoubtful?: true } {
  const isDoubtful = taken.some((change) => change.isDoubtful && !change.isForeign);
  return now !== null && isDoubtful ? { isDoubtful } : {};
}

type Earlier = (FileState & { readonly isMerged?: true }) | null;

/** The state without the change, or why there is none. */
async function before(
  { entry, before, after, isForeign }: Undone,
  state: FileState | null,
  contents: Contents,
): Promise<Earlier | RefusalCode> {
  if (before === null && after === null) return state; // An undo that found nothing to do.
  if (before?.hash === UNREAD || after?.hash === UNREAD) return 'not_stored';
  if (isForeign && before === null && state !== null && entry.undoes === undefined)
    return 'foreign';
  if (isSame(state, after)) return before;
  if (isSame(state, before)) return state; // The person has taken it back already.
  // Deleted since: what was there before the agent's change was not the person's to delete any more.
  if (state === null) return entry.undoes === undefined ? before : 'deleted';
  if (after === null) return 'made_again';
  if (before === null) return 'changed';
  const isOtherMode = before.mode !== after.mode;
  if (isOtherMode && state.mode !== after.mode) return 'mode';
  const mode = isOtherMode ? before.mode : state.mode;
  if (before.hash === after.hash || state.hash === before.hash) return { hash: state.hash, mode };
  if (state.hash === after.hash) return { hash: before.hash, mode };
  if ([state, before, after].some((file) => targetOf(file) !== undefined)) return 'changed';
  const versions = { base: after.hash, ours: state.hash, theirs: before.hash };
  if (![versions.base, versions.theirs].every(contents.has)) return 'not_stored';
  const hash = await contents.merge(versions);
  return hash === null ? 'changed' : { hash, mode, isMerged: true };
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
  taken: 'something else has its place',
  only_copy: 'it is the only copy of another file',
  foreign: 'it may be the only copy of a file from where undo does not look',
  failed: 'it could not be written',
};
