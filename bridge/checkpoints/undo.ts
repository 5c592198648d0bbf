/** Takes back what calls changed, where the files are still as the calls left them or can be merged. */

import { lstatSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { type BytePath, fromText, shownName, toText } from '../../machine/byte-path.ts';
import { compute } from '../../machine/compute/compute.ts';
import { nullForFailure, ToolFailure } from '../../machine/failure.ts';
import { sha256 } from '../../machine/hash.ts';
import { EDIT_TASKS } from '../../packages/edits/tasks.ts';
import {
  type DiskEntry,
  deleteEmptyFolders,
  type ResolvedPath,
  readEntryAt,
  restoreAt,
  type Workspace,
} from '../../packages/workspace/index.ts';
import { canonicalJson } from '../../shared/wire/approval-text.ts';
import type { Changer, Checkpoints } from './checkpoints.ts';
import { withForeign } from './foreign.ts';
import { type FileState, linkTo, targetOf, UNREAD } from './history.ts';
import { CHECKPOINT_LIMITS } from './limits.ts';
import { type Disk, foldersOf, inTheWay, isDeletion, placeContents } from './places.ts';
import { type FilePlan, isSame, type Present, planFile, type Undone } from './plan.ts';
import { type Selection, select } from './selection.ts';

/** Where an undo is made: only changes of this folder are taken back, and only where a call may change the file. */
export interface UndoPlace {
  readonly checkpoints: Checkpoints;
  /** As the call may reach it: what rules and ignore files close is not resolved. */
  readonly workspace: Workspace;
  readonly signal: AbortSignal;
}

/** The outcome for each file, by its path. */
export interface Undo {
  readonly plans: readonly FilePlan[];
  /** What this very call has taken back already, before a crash. */
  readonly done: readonly string[];
  /** Of all that it does: an undo with the same digest does the same, to every byte. */
  readonly digest: string;
  /** A content that a plan names: one of the store, or a merged one. */
  readonly contentOf: (hash: string) => Uint8Array | null;
  /** The changes, by path. */
  readonly byPath: ReadonlyMap<string, readonly Undone[]>;
}

/** Works out what an undo would do. Changes no file. */
export async function previewUndo(place: UndoPlace, selection: Selection): Promise<Undo> {
  const { checkpoints, workspace, signal } = place;
  await settleLeft(place);
  const merged = new Map<string, Uint8Array>();
  const contentOf = (hash: string) => merged.get(hash) ?? checkpoints.contents.get(hash);
  const has = (hash: string) => targetOf({ hash }) !== undefined || contentOf(hash) !== null;
  const merge = async (versions: { base: string; ours: string; theirs: string }) => {
    const [base, ours, theirs] = [versions.base, versions.ours, versions.theirs].map(contentOf);
    if (!base || !ours || !theirs) return null;
    const request = { base, ours, theirs, maxLines: CHECKPOINT_LIMITS.maxMergedLines };
    const result = await compute(EDIT_TASKS.mergeThree, request, signal).catch(nullForFailure);
    if (result === null) return null;
    const hash = sha256(result);
    merged.set(hash, result);
    return hash;
  };
  const { root } = workspace;
  const { entries } = checkpoints.history;
  const gone = await checkpoints.goneNow(root);
  const own = entries.filter((entry) => entry.root === root);
  const byPath = withForeign(select(entries, selection, root), own, gone, contentOf);
  const plans = new Map<string, FilePlan>();
  const later: { path: string; present: Present & { state: 'taken' } }[] = [];
  let room: number = CHECKPOINT_LIMITS.maxHeldBytes;
  for (const [path, undone] of byPath) {
    signal.throwIfAborted();
    const { present, bytes } = await look(place, path);
    const isOnlyHere = present.state === 'there' && !checkpoints.contents.has(present.file.hash);
    room -= isOnlyHere ? (bytes?.length ?? 0) : 0;
    if (bytes && isOnlyHere && room >= 0) merged.set(present.file.hash, bytes);
    if (present.state === 'taken') later.push({ path, present });
    else plans.set(path, await planFile(path, undone, present, { has, merge }));
  }
  for (const { path, present } of later) {
    const isFree = await isFreed(place, present.by, plans);
    const found: Present = isFree ? { state: 'absent' } : present;
    plans.set(path, await planFile(path, byPath.get(path) ?? [], found, { has, merge }));
  }
  const placed = await placeContents([...plans.values()], byPath, diskOf(place, has));
  const done = checkpoints.history.entries
    .filter(({ call }) => call === selection.call)
    .flatMap(({ changes }) => changes.map(({ path }) => path))
    .filter((path) => !byPath.has(path));
  return { plans: placed, done: [...new Set(done)], digest: digestOf(placed), contentOf, byPath };
}

function digestOf(plans: readonly FilePlan[]): string {
  const shown = plans.map(({ undone: _, ...plan }) => {
    if (plan.action !== 'restore' || plan.left === undefined) return plan;
    return { ...plan, left: plan.left.reason };
  });
  return sha256(canonicalJson(shown));
}

/** Whether nothing is left of what has a place once the plans have deleted what they delete. */
async function isFreed(
  { workspace }: UndoPlace,
  by: BytePath,
  plans: ReadonlyMap<string, FilePlan>,
): Promise<boolean> {
  const places = [by];
  for (const path of places) {
    const plan = plans.get(path);
    if (plan && isDeletion(plan)) continue;
    const inside = listFolder(join(workspace.root, toText(path)));
    if (inside === undefined || places.length > CHECKPOINT_LIMITS.maxReadAfter) return false;
    places.push(...inside.map((name) => `${path}/${name}`));
  }
  return true;
}

function diskOf(place: UndoPlace, has: (hash: string) => boolean): Disk {
  const hashAt = async (path: string) => {
    const { present } = await look(place, path);
    return present.state === 'there' ? present.file.hash : undefined;
  };
  return {
    hashAt,
    has,
    beside: async (path, hash, isPlanned) => {
      const { present } = await look(place, path);
      const [folder] = foldersOf(present.state === 'taken' ? present.by : path);
      for (let number = 1; number <= CHECKPOINT_LIMITS.maxBeside; number++) {
        const name = besideName(path.slice(path.lastIndexOf('/') + 1), hash, number);
        const free = folder === undefined ? name : `${folder}/${name}`;
        const { present: found } = await look(place, free);
        if (found.state === 'there' && found.file.hash === hash)
          return { path: free, isThere: true };
        if (found.state === 'absent' && !isPlanned(free)) return { path: free, isThere: false };
        if (found.state === 'closed') return undefined;
      }
      return undefined;
    },
  };
}

/** Behind the whole name, so that no program takes it for a source. */
function besideName(name: BytePath, hash: string, number: number): BytePath {
  const isUsable =
    name.length <= CHECKPOINT_LIMITS.maxBesideName && fromText(toText(name)) === name;
  const suffix = `before-undo${number > 1 ? `-${number}` : ''}`;
  return isUsable ? `${name}.${suffix}` : `${sha256(Buffer.from(hash)).slice(0, 8)}.${suffix}`;
}

/**
 * Does what a preview of this moment says, if that has the digest. A file that changes meanwhile is refused, and stays as
 * it is. The caller sees to it that no call and no other undo changes files meanwhile.
 */
export async function applyUndo(
  place: UndoPlace,
  selection: Selection,
  expected?: string,
): Promise<Undo> {
  const undo = await previewUndo(place, selection);
  if (expected !== undefined && undo.digest !== expected) throw undoChanged();
  const { conversation: conversationId, call: callId } = selection;
  const changer = { root: place.workspace.root, conversationId, callId };
  const done = new Map<string, FilePlan>();
  const carryOutAll = async (plans: readonly FilePlan[]) => {
    for (const plan of plans) done.set(plan.path, await carryOut(plan, place, undo, changer));
  };
  // What has the place of another goes first, what has nothing in its way last: then its content has a place already.
  const blocks = inTheWay(undo.plans);
  const first = undo.plans.filter((plan) => isDeletion(plan) && blocks(plan));
  const last = new Set(undo.plans.filter((plan) => isDeletion(plan) && !blocks(plan)));
  await carryOutAll(first);
  await carryOutAll(undo.plans.filter((plan) => !done.has(plan.path) && !last.has(plan)));
  const outcome = undo.plans.map((plan) => {
    const made = done.get(plan.path) ?? plan;
    // What is deleted already is no copy any more.
    return done.has(plan.path) && isDeletion(made) ? { ...made, now: null } : made;
  });
  const has = (hash: string) => targetOf({ hash }) !== undefined || undo.contentOf(hash) !== null;
  const placed = await placeContents(outcome, undo.byPath, diskOf(place, has));
  await carryOutAll(placed.filter(({ path }) => !done.has(path)));
  return { ...undo, plans: placed.map((plan) => done.get(plan.path) ?? plan) };
}

/** The files are not as they were shown. */
export function undoChanged(): ToolFailure {
  return new ToolFailure(
    'UNDO_CHANGED',
    'Files have changed since the preview, so nothing was undone: look at a new preview.',
  );
}

async function carryOut(
  plan: FilePlan,
  { checkpoints, workspace, signal }: UndoPlace,
  { contentOf }: Undo,
  changer: Changer,
): Promise<FilePlan> {
  const { path, undone, now } = plan;
  const undoes = undone.map(({ entry: { id }, path }) => ({ id, path }));
  if (plan.action === 'refuse') return plan;
  if (plan.action === 'none') {
    checkpoints.keep(changer, [{ path, before: null, after: null }], { undoes })?.(true);
    return plan;
  }
  const { target, isForeign } = plan;
  const refuse = (code: 'not_stored' | 'failed', reason: string): FilePlan => {
    return { path, undone, now, action: 'refuse', code, reason };
  };
  try {
    const file = await placeOf(workspace, path);
    const link = target && targetOf(target);
    const content =
      target && (link === undefined ? contentOf(target.hash) : Buffer.from(link ?? '', 'latin1'));
    if (target !== null && content === null) return refuse('not_stored', GONE);
    const keep = (found: DiskEntry | null) => {
      if (!isSame(found && stateOf(found), now)) throw stale();
      const contents = [found?.isLink === false && found.content, link === undefined && content];
      if (
        !contents.every(
          (one) => one === false || one === null || checkpoints.contents.put(sha256(one), one),
        )
      )
        throw unkept();
      const change = { path, before: now, after: target };
      const kept = isForeign ? { ...change, isForeign } : change;
      const settle = checkpoints.keep(changer, [kept], { undoes });
      if (settle === undefined) throw unkept();
      return settle;
    };
    const next = target && content && { content, mode: target.mode, isLink: link !== undefined };
    await restoreAt(file, next, { keep, signal });
    checkpoints.saw(changer, path, target);
    if (target === null) await deleteEmptyFolders(file, workspace.root);
    return plan;
  } catch (error) {
    if (!(error instanceof ToolFailure)) throw error;
    return refuse('failed', error.message);
  }
}
const GONE = 'a content that it had is not stored';

function stale(): ToolFailure {
  return new ToolFailure('STALE', 'It has changed during the undo: repeat the undo.');
}

function unkept(): ToolFailure {
  return new ToolFailure(
    'NOT_KEPT',
    'what it has now cannot be kept for a redo: is the disk full?',
  );
}

/** Finds out about changes that a killed process left: a file that is as the change would leave it was changed. */
async function settleLeft(place: UndoPlace): Promise<void> {
  const { history } = place.checkpoints;
  for (const { id, root, changes } of history.unsettled) {
    if (root !== place.workspace.root) continue;
    const found = await Promise.all(changes.map(({ path }) => look(place, path)));
    const isAs = (which: 'before' | 'after') =>
      changes.every((change, at) => isSame(fileOf(found[at]?.present), change[which]));
    history.settle(id, !isAs('before') || isAs('after'));
  }
}

function fileOf(present: Present | undefined): FileState | null {
  return present?.state === 'there' ? present.file : null;
}

/** What is there, with its content. */
async function look(
  { workspace, signal }: UndoPlace,
  path: BytePath,
): Promise<{ readonly present: Present; readonly bytes?: Uint8Array }> {
  const taken = (by: BytePath, reason: string) => ({
    present: { state: 'taken', by, reason } as const,
  });
  if (fromText(toText(path)) !== path)
    return taken(path, 'its name is not UTF-8: restore it by hand');
  for (const folder of foldersOf(path).toReversed()) {
    const stats = lstatSync(join(workspace.root, toText(folder)), { throwIfNoEntry: false });
    if (stats === undefined) break;
    if (!stats.isDirectory()) return taken(folder, `${shownName(folder)} is no folder any more`);
  }
  try {
    const found = await readEntryAt(await placeOf(workspace, path), signal);
    if (found === null) return { present: { state: 'absent' } };
    return { present: { state: 'there', file: stateOf(found) }, bytes: found.content };
  } catch (error) {
    if (!(error instanceof ToolFailure)) throw error;
    const { code, message: reason } = error;
    // Larger than what is read, so it is no content that is stored.
    if (code === 'FILE_TOO_LARGE')
      return { present: { state: 'there', file: { hash: UNREAD, mode: 0 } } };
    return code === 'NOT_A_FILE' ? taken(path, reason) : { present: { state: 'closed', reason } };
  }
}

function stateOf({ isLink, content, mode }: DiskEntry): FileState {
  if (isLink) return linkTo(Buffer.from(content).toString('latin1'));
  return { hash: sha256(content), mode };
}

/** Throws a ToolFailure for a path that tools may not change now, and where a link stands above it. */
async function placeOf(workspace: Workspace, path: BytePath): Promise<ResolvedPath<'write'>> {
  const name = toText(path);
  const place = await workspace.resolve(name, 'write', { isEntry: true });
  if (fromText(name) === path && place.path === join(workspace.root, name)) return place;
  throw new ToolFailure('PATH_CHANGED', 'a symbolic link stands above it');
}

/** The names in a folder. Undefined for anything else. */
function listFolder(path: string): readonly BytePath[] | undefined {
  if (lstatSync(path, { throwIfNoEntry: false })?.isDirectory() !== true) return undefined;
  return readdirSync(path, { encoding: 'latin1' });
}
