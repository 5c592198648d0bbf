/** Gives quarantined things back to a person, when the old place is free or still holds our replacement. */
import { unlink } from 'node:fs/promises';
import { join, posix } from 'node:path';
import type { BytePath } from '../../../machine/byte-path.ts';
import { takeLock } from '../../../machine/lock.ts';
import { isSystemError } from '../../../machine/system-error.ts';
import { closureOf, identityOf, REPOSITORY_SETTINGS } from '../../workspace/index.ts';
import { findGitTools } from './git-folder.ts';
import { HeldFolder } from './held-folder.ts';
import { readKnown, writeKnown } from './known.ts';
import { QUARANTINE_LIMITS } from './limits.ts';
import { moveToFree, type Spot } from './moving.ts';
import { whatStarts } from './put-away.ts';
import { openThings, type QuarantinedItem, removeRecord, type StoredManifest } from './store.ts';

/** The outcome for one thing. */
export type Restored =
  | { readonly state: 'restored'; readonly name: string; readonly what: readonly string[] }
  | { readonly state: 'stays'; readonly name: string; readonly reason: string };

/** A thing that is still in the record. A thing is missing after an interrupted move or a restore. */
export interface KeptThing {
  readonly item: QuarantinedItem;
  /** What the thing would start in its old place, examined now: a command that still ran may have changed it. */
  readonly what: readonly string[];
}

export async function keptThings(record: StoredManifest): Promise<readonly KeptThing[]> {
  const tools = await findGitTools();
  await using things = await openThings(record.folder);
  const kept: KeptThing[] = [];
  for (const item of record.items) {
    if (!(await things.has(item.stored))) continue;
    const spot = { folder: things, name: item.stored };
    const isRepository = posix.basename(item.from) === '.git';
    const now = isRepository ? await whatStarts(spot, tools) : [];
    kept.push({ item, what: [...new Set([...item.what, ...now])] });
  }
  return kept;
}

/** Puts back each thing that can be put back. Removes the record once it is empty. */
export async function restoreRecord(
  stateDir: string,
  record: StoredManifest,
): Promise<readonly Restored[]> {
  const kept = await keptThings(record);
  const results: Restored[] = [];
  {
    await using things = await openThings(record.folder);
    for (const { item, what } of kept) {
      const from = { folder: things, name: item.stored };
      const reason = await restore(from, item);
      results.push(
        reason === undefined
          ? { state: 'restored', name: item.name, what }
          : { state: 'stays', name: item.name, reason },
      );
    }
  }
  if (results.every(({ state }) => state === 'restored')) await removeRecord(stateDir, record.id);
  await makeKnown(stateDir, record);
  return results;
}

/** Undefined when the thing is back, else the reason why not. */
async function restore(from: Spot, item: QuarantinedItem): Promise<string | undefined> {
  try {
    await using folder = await HeldFolder.open(posix.dirname(item.from));
    const to = { folder, name: posix.basename(item.from) };
    if (item.replacement !== undefined) await clearReplacement(to, item.replacement);
    await moveToFree(from, to);
    return undefined;
  } catch (error) {
    if (isSystemError(error, 'EEXIST', 'ENOTEMPTY')) return 'something else is in its place';
    if (isSystemError(error, 'ENOENT', 'ENOTDIR')) return 'its folder is not there any more';
    return error instanceof Error ? error.message : String(error);
  }
}

/** Removes our replacement. A file that the person has changed stays, and blocks the restore. */
async function clearReplacement({ folder, name }: Spot, replacement: string): Promise<void> {
  if (!(await folder.has(name))) return;
  const there = await folder.read(name, QUARANTINE_LIMITS.maxConfigBytes);
  if (there?.toString('utf8') === replacement) await unlink(folder.entry(name));
}

/**
 * Marks the restored things as known: after a crash the next bridge would otherwise take them for a command's. A
 * running bridge learns them by itself before its next command.
 */
async function makeKnown(stateDir: string, { items }: StoredManifest): Promise<void> {
  const lock = takeLock(join(stateDir, 'journal.jsonl.lock'));
  if (!lock.isTaken) return;
  try {
    const known = readKnown(stateDir);
    if (known?.open !== true) return;
    const entries = { ...known.entries };
    for (const { from, name } of items) {
      const isListed = REPOSITORY_SETTINGS.has(posix.basename(from)) || closureOf(from) !== null;
      const identity = isListed && (await identityAt(from));
      if (identity) entries[identity] = name;
    }
    writeKnown(stateDir, { ...known, entries });
  } finally {
    lock[Symbol.dispose]();
  }
}

async function identityAt(path: BytePath): Promise<string | undefined> {
  try {
    await using folder = await HeldFolder.open(posix.dirname(path));
    return identityOf(await folder.stat(posix.basename(path)));
  } catch {
    return undefined; // The thing was not put back.
  }
}
