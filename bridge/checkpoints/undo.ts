/** Takes back what calls changed, where the files are still as the calls left them or can be merged. */
import { lstat } from 'node:fs/promises';
import { join } from 'node:path';
import { sha256 } from '../../machine/hash.ts';
import { isSystemError } from '../../machine/system-error.ts';
import { canonicalJson } from '../../shared/wire/approval-text.ts';
import { compute } from '../compute/compute.ts';
import { nullForFailure, ToolFailure } from '../failure.ts';
import { fromText, toText } from '../sandbox/byte-path.ts';
import { deleteEmptyFolders, deleteFileAt, replaceFileAt } from '../workspace/changes.ts';
import { readContentIfAny } from '../workspace/files.ts';
import type { Place, Workspace } from '../workspace/workspace.ts';
import type { Changer, Checkpoints } from './checkpoints.ts';
import type { FileState } from './history.ts';
import { CHECKPOINT_LIMITS } from './limits.ts';
import { type FilePlan, isSame, keepWhole, type Present, planFile } from './plan.ts';
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
}

/** Works out what an undo would do. Changes no file. */
export async function previewUndo(place: UndoPlace, selection: Selection): Promise<Undo> {
  const { checkpoints, workspace, signal } = place;
  await settleLeft(place);
  const merged = new Map<string, Uint8Array>();
  const contentOf = (hash: string) => merged.get(hash) ?? checkpoints.contents.get(hash);
  const byPath = select(checkpoints.history.entries, selection, workspace.root);
  const plans: FilePlan[] = [];
  let room: number = CHECKPOINT_LIMITS.maxHeldBytes;
  for (const [path, undone] of byPath) {
    signal.throwIfAborted();
    const { present, bytes } = await look(place, path);
    const isOnlyHere = present.state === 'there' && !checkpoints.contents.has(present.file.hash);
    room -= isOnlyHere ? (bytes?.length ?? 0) : 0;
    if (bytes && isOnlyHere && room >= 0) merged.set(present.file.hash, bytes);
    const merge = async (versions: { base: string; ours: string; theirs: string }) => {
      const [base, ours, theirs] = [versions.base, versions.ours, versions.theirs].map(contentOf);
      if (!base || !ours || !theirs) return null;
      const request = { base, ours, theirs, maxLines: CHECKPOINT_LIMITS.maxMergedLines };
      const result = await compute('mergeThree', request, signal).catch(nullForFailure);
      if (result === null) return null;
      const hash = sha256(result);
      merged.set(hash, result);
      return hash;
    };
    const has = (hash: string) => contentOf(hash) !== null;
    plans.push(await planFile(path, undone, present, { has, merge }));
  }
  const whole = keepWhole(plans.sort((a, b) => (a.path < b.path ? -1 : 1)));
  const done = checkpoints.history.entries
    .filter(({ call }) => call === selection.call)
    .flatMap(({ changes }) => changes.map(({ path }) => path))
    .filter((path) => !byPath.has(path));
  return { plans: whole, done: [...new Set(done)], digest: digestOf(whole), contentOf };
}

function digestOf(plans: readonly FilePlan[]): string {
  return sha256(canonicalJson(plans.map(({ undone: _, ...plan }) => plan)));
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
  const isDeletion = (plan: FilePlan) => plan.action === 'restore' && plan.target === null;
  const done = new Map<FilePlan, FilePlan>();
  // Deletions first: a folder may have taken the place of a file.
  for (const plan of [...undo.plans].sort((a, b) => Number(isDeletion(b)) - Number(isDeletion(a))))
    done.set(plan, await carryOut(plan, place, undo, changer));
  return { ...undo, plans: undo.plans.map((plan) => done.get(plan) ?? plan) };
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
  const { path, undone } = plan;
  const undoes = undone.map(({ entry: { id }, path }) => ({ id, path }));
  if (plan.action === 'refuse') return plan;
  if (plan.action === 'none') {
    checkpoints.keep(changer, [{ path, before: null, after: null }], { undoes })(true);
    return plan;
  }
  try {
    const { now, target } = plan;
    const file = await placeOf(workspace, path);
    await assertMode(file, now);
    const keep = checkpoints.keeper(changer, undoes);
    const options = { expected: now?.hash ?? null, keep, signal };
    const bytes = target && contentOf(target.hash);
    if (target === null) {
      await deleteFileAt(file, options);
      await deleteEmptyFolders(file, workspace.root);
    } else if (bytes) await replaceFileAt(file, bytes, { ...options, mode: target.mode });
    else return { path, undone, action: 'refuse', ...GONE };
    return plan;
  } catch (error) {
    if (!(error instanceof ToolFailure)) throw error;
    return { path, undone, action: 'refuse', code: 'closed', reason: error.message };
  }
}

const GONE = { code: 'not_stored', reason: 'a content that it had is not stored' } as const;

/** The writer compares only the content. */
async function assertMode({ path }: Place, now: FileState | null): Promise<void> {
  if (now === null) return;
  const stats = await lstat(path).catch(() => undefined);
  if (stats && (stats.mode & PERMISSIONS) === now.mode) return;
  throw new ToolFailure('STALE', 'It has changed during the undo: repeat the undo.');
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

/** The file as it is, with its content. */
async function look(
  { workspace, signal }: UndoPlace,
  path: string,
): Promise<{ readonly present: Present; readonly bytes?: Uint8Array }> {
  try {
    const place = await placeOf(workspace, path);
    const found = await readContentIfAny(place, signal);
    if (found === null) return { present: { state: 'absent' } };
    const { mode } = await lstat(place.path);
    const file = { hash: found.hash, mode: mode & PERMISSIONS };
    return { present: { state: 'there', file }, bytes: found.bytes };
  } catch (error) {
    if (isSystemError(error, 'ENOENT')) return { present: { state: 'absent' } };
    if (!(error instanceof ToolFailure)) throw error;
    return { present: { state: 'closed', reason: error.message } };
  }
}

/** Throws a ToolFailure for a path that tools may not change now, and where a link stands on the way. */
async function placeOf(workspace: Workspace, path: string): Promise<Place<'write'>> {
  const name = toText(path);
  if (fromText(name) !== path) {
    throw new ToolFailure('INVALID_PATH', 'its name is not UTF-8: restore it by hand');
  }
  const place = await workspace.resolve(name, 'write');
  if (!place.isLink && place.path === join(workspace.root, name)) return place;
  throw new ToolFailure('PATH_CHANGED', 'a symbolic link stands in its place or above it');
}

const PERMISSIONS = 0o777;
