/** Closes a worktree: shows its changes, and puts them on its branch where that is wanted. */
import { rm } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { ToolFailure } from '../../machine/failure.ts';
import { type CommandUser, type Confinement, readAuthor } from '../../packages/sandbox/index.ts';
import { closureOf } from '../../packages/workspace/index.ts';
import type { ClosedWorktree } from '../../shared/tools/worktree.ts';
import { readDifference } from './difference.ts';
import { worktreeFailed } from './git.ts';
import type { Workshop } from './making.ts';
import { type RecordCall, RecordSnapshot, recordCall } from './record.ts';
import { findRepository, landBranch } from './repository.ts';
import type { WorktreeFacts, WorktreePaths } from './store.ts';

export interface Closing {
  readonly facts: WorktreeFacts;
  readonly paths: WorktreePaths;
  /** That of the worktree. */
  readonly confinement: Confinement;
  /** Undefined for no commit. */
  readonly message: string | undefined;
  /** Whether the rules let tools read a file, by its path in the workspace. */
  readonly mayRead: (name: string) => boolean;
}

export interface ClosedTree {
  readonly closed: ClosedWorktree;
  /** Sentences for the model and people. */
  readonly notes: readonly string[];
  /** Whether the folder has anything that is in no commit. */
  readonly holdsWork: boolean;
}

/** May be called again. After a failure, or a crash, the next call goes on from there. */
export async function closeWorktree(
  workshop: Workshop,
  closing: Closing,
  signal: AbortSignal,
): Promise<ClosedTree> {
  const { store, git } = workshop;
  const { conversationId, base, branch, prefix } = closing.facts;
  const call = recordCall(closing.facts, closing.paths, closing.confinement);
  const snapshot = new RecordSnapshot(git, call, closing.facts, signal);
  // Of a git that was killed. No other one runs here.
  await rm(join(closing.paths.record, 'index.lock'), { force: true });
  const { tree, isWhole, left, notes } = await snapshot.take(base);
  const mayShow = (path: string) => {
    const name = relative(prefix, path);
    const isAround = name === '..' || name.startsWith('../');
    return closureOf(path) !== 'secret' && (isAround || closing.mayRead(name));
  };
  const difference = await readDifference(git, call, { base, now: tree, mayShow }, signal);
  if (closing.message !== undefined)
    await commit(workshop, { ...closing, call, snapshot, tree, isWhole }, signal);
  const { head } = store.read(conversationId) ?? closing.facts;
  const holdsWork = !isWhole || (await snapshot.treeOf(head ?? base)) !== tree;
  const committed = !holdsWork && head !== null;
  const inside = left.length === 0 ? {} : { left: [...left] };
  const closed = { branch, head: head ?? base, committed, ...difference, ...inside };
  return { closed, notes, holdsWork };
}

interface Committing extends Closing {
  readonly call: RecordCall;
  readonly snapshot: RecordSnapshot;
  readonly tree: string;
  readonly isWhole: boolean;
}

/** A commit that an earlier close could not finish lands first. Without a change since then there is no other one. */
async function commit(
  workshop: Workshop,
  { facts, call, snapshot, tree, isWhole, message = '' }: Committing,
  signal: AbortSignal,
): Promise<void> {
  const { store, git, root, account } = workshop;
  const repository = await findRepository(git, root, signal);
  if (repository.objects !== facts.objects) throw worktreeFailed(ANOTHER_REPOSITORY);
  const land = async (now: WorktreeFacts, landing: string) => {
    const { base, branch, head: before } = now;
    // Known from here on: after a crash, the branch's commit is not taken for somebody else's.
    store.save({ ...now, landing });
    await landBranch(
      git,
      repository,
      { branch, base, commit: landing, before, source: call },
      signal,
    );
    const { landing: _, ...rest } = now;
    return { ...rest, head: landing };
  };
  // One that can never land, because the person's git finds a fault in it, must not stay in the way of others.
  const landEarlier = async (now: WorktreeFacts, landing: string) =>
    await land(now, landing).catch((error) => {
      if (!(error instanceof ToolFailure && error.code === 'WORKTREE_FAILED')) throw error;
      const { landing: _, ...rest } = now;
      return rest;
    });
  const { landing } = facts;
  const before = landing === undefined ? facts : await landEarlier(facts, landing);
  const parent = before.head ?? before.base;
  const isNew = (await snapshot.treeOf(parent)) !== tree;
  const author = isNew ? await authorOf(root, account) : {};
  const after = isNew
    ? await land(before, await snapshot.commit(tree, { parent, message, author }))
    : before;
  if (isWhole) store.saveCommitted(after);
  else store.save(after);
}

const ANOTHER_REPOSITORY =
  'The workspace is in another repository than when the work began: the person can put the first one back.';

const NO_AUTHOR =
  'Git did not say who commits, so nothing is committed: the person can see why with `git config user.name`.';

/** As git's environment. */
async function authorOf(
  root: string,
  { home = process.env['HOME'] ?? '/nonexistent', prefix = [] }: Partial<CommandUser> = {},
): Promise<Record<string, string>> {
  const author = await readAuthor(root, { home, prefix });
  if (author === undefined) throw worktreeFailed(NO_AUTHOR);
  const { name, email } = author;
  return {
    GIT_AUTHOR_NAME: name,
    GIT_AUTHOR_EMAIL: email,
    GIT_COMMITTER_NAME: name,
    GIT_COMMITTER_EMAIL: email,
  };
}
