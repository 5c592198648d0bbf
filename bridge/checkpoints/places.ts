/** Sees to it that each content that was there before the undone changes has a place after the undo. */

import { shownName } from '../../machine/byte-path.ts';
import { sha256 } from '../../machine/hash.ts';
import { type FileState, UNREAD } from './history.ts';
import type { FilePlan, Undone } from './plan.ts';

/** What is asked about the disk. */
export interface Disk {
  /** The hash of what stands at a path of no plan; undefined where that cannot be said. */
  readonly hashAt: (path: string) => Promise<string | undefined>;
  /** Whether the content is stored. */
  readonly has: (hash: string) => boolean;
  /** A path beside `path` for this content: free, or with just that content. Undefined where none may be written. */
  readonly beside: (
    path: string,
    hash: string,
    isTaken: (path: string) => boolean,
  ) => Promise<{ readonly path: string; readonly isThere: boolean } | undefined>;
}

/**
 * Changes the plans so that no content is lost: a file is not deleted that has the only copy of one, and what can go to
 * no place of its own is put beside it.
 */
export async function placeContents(
  plans: readonly FilePlan[],
  byPath: ReadonlyMap<string, readonly Undone[]>,
  disk: Disk,
): Promise<readonly FilePlan[]> {
  const all = new Map(plans.map((plan) => [plan.path, plan]));
  const held = new Set(plans.map((plan) => endOf(plan)?.hash));
  const blocks = inTheWay(plans);
  for (const { path, state, change, isForeign } of contentsBefore(byPath)) {
    const { hash } = state;
    const own = all.get(path);
    const isBack = !isForeign && own && own.action !== 'refuse' && own.undone.includes(change);
    if (isBack || held.has(hash) || (!own && (await disk.hashAt(path)) === hash)) continue;
    const losing = [...all.values()].filter(
      (plan) => plan.action === 'restore' && plan.now?.hash === hash,
    );
    // Of what was only copied, nothing else is taken away. What was brought may have been replaced by a later change.
    const isTaken = byPath.get(path)?.some((one) => one !== change && one.before?.hash === hash);
    const isElsewhere = change.path !== path || (isForeign && !isTaken);
    if (isElsewhere && losing.length === 0) continue;
    const copy = losing.find((plan) => isDeletion(plan) && !blocks(plan));
    if (copy !== undefined) {
      held.add(hash);
      const reason = `it is the only copy of what ${shownName(path)} was`;
      const { undone, now } = copy;
      const plan = { path: copy.path, undone, now } as const;
      all.set(copy.path, { ...plan, action: 'refuse', code: 'only_copy', reason });
      continue;
    }
    if (!disk.has(hash)) continue;
    const isClosed = own?.action === 'refuse' && own.code === 'closed';
    const of = isClosed ? losing[0]?.path : path;
    const place = of && (await disk.beside(of, hash, (other) => all.has(other)));
    if (!place || place.isThere) continue;
    held.add(hash);
    const left = own?.action === 'refuse' ? own.undone : leftOf(own);
    // A redo of it finds the entry, but the change itself is taken back at its own path alone.
    const undone = isForeign ? [{ ...change, path: place.path }] : left;
    const plan = { path: place.path, undone, now: null } as const;
    const restored = { action: 'restore', target: state, isMerged: false, of: path } as const;
    all.set(place.path, { ...plan, ...restored, ...(isForeign && { isForeign }) });
  }
  return [...all.values()].sort((a, b) => (a.path < b.path ? -1 : 1));
}

function leftOf(plan: FilePlan | undefined): readonly Undone[] {
  return (plan?.action === 'restore' && plan.left?.undone) || [];
}

export function isDeletion(plan: FilePlan): boolean {
  return plan.action === 'restore' && plan.target === null;
}

/** Whether a plan's path must be free before a file is made: one of the two is where a folder of the other must be. */
export function inTheWay(plans: readonly FilePlan[]): (plan: FilePlan) => boolean {
  const made = new Set<string>();
  const above = new Set<string>();
  for (const { path, ...plan } of plans) {
    if (plan.action !== 'restore' || plan.target === null) continue;
    made.add(path);
    for (const folder of foldersOf(path)) above.add(folder);
  }
  return ({ path }) => above.has(path) || foldersOf(path).some((folder) => made.has(folder));
}

/** The folders above a path, the nearest first. */
export function foldersOf(path: string): string[] {
  const names = path.split('/');
  return names.slice(1).map((_, at) => names.slice(0, names.length - 1 - at).join('/'));
}

/** What stands at the plan's path after the undo. */
function endOf(plan: FilePlan): FileState | null {
  return plan.action === 'restore' ? plan.target : plan.now;
}

interface EarlierContent {
  /** Where it was. */
  readonly path: string;
  readonly state: FileState;
  readonly change: Undone;
  /** It was brought from where no look reads. Nothing but the place where it is now is known of it. */
  readonly isForeign?: true;
}

/**
 * The contents that no change before had made: what a change found at its path, and what it copied from another or
 * brought from where no look reads. A redo has only those: what it finds is the agent's, and another undo brings back
 * the rest.
 */
function contentsBefore(byPath: ReadonlyMap<string, readonly Undone[]>): readonly EarlierContent[] {
  const found: EarlierContent[] = [];
  for (const [path, undone] of byPath) {
    for (const [at, change] of undone.entries()) {
      const { entry, before, after, from, isForeign } = change;
      if (after && isForeign) found.push({ path, state: after, change, isForeign });
      if (entry.undoes !== undefined) continue;
      const earlier = undone.slice(at + 1).find(isOfContent);
      const isMade = before !== null && earlier?.after?.hash === before.hash;
      if (before && isOfContent(change) && !isMade) found.push({ path, state: before, change });
      const there = from === undefined ? [] : (byPath.get(from) ?? []);
      const isOwn = there.some((one) => isOfContent(one) && one.after?.hash === after?.hash);
      if (after && from !== undefined && !isOwn) found.push({ path: from, state: after, change });
    }
  }
  return found.filter(({ state: { hash } }) => hash !== UNREAD && hash !== EMPTY);
}

function isOfContent({ before, after }: Undone): boolean {
  return before?.hash !== after?.hash;
}

const EMPTY = sha256(new Uint8Array());
