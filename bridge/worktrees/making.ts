/** Makes a conversation's worktree: a checkout of a commit, linked folders, and the owner's setup. */
import { execFile } from 'node:child_process';
import { statfs } from 'node:fs/promises';
import { promisify } from 'node:util';
import { ToolFailure } from '../../machine/failure.ts';
import { type CommandUser, type Confinement, otherRights } from '../../packages/sandbox/index.ts';
import { nameInLine } from '../../shared/text/plain-sight.ts';
import { readGitStatus } from '../context/git-status.ts';
import { folderOf, prepareLinks, workFolder } from './folder.ts';
import { type Git, type GitCall, worktreeFailed } from './git.ts';
import { WORKTREE_LIMITS } from './limits.ts';
import { checkOut } from './record.ts';
import { chooseBranch, findBase, findRepository, type Repository } from './repository.ts';
import { readSettings, type WorktreeSettings } from './settings.ts';
import { type Making, setUp } from './setup.ts';
import type { WorktreeFacts, WorktreePaths, WorktreeStore } from './store.ts';

/** The parts of the bridge that worktrees are made with. */
export interface Workshop {
  /** The workspace. */
  readonly root: string;
  readonly stateDir: string;
  readonly store: WorktreeStore;
  readonly git: Git;
  /** Undefined where commands run as the bridge's own user for want of another. */
  readonly account: CommandUser | undefined;
  /** That of the workspace. */
  readonly confinement: Confinement;
  /** Whether a running command has made the path. */
  readonly isForeign: (path: string) => Promise<boolean>;
}

export interface WantedTree {
  readonly conversationId: string;
  readonly branch: string | undefined;
  readonly base: string | undefined;
}

/** The facts of the finished worktree. After a failure nothing of it is left. `output` is that of the setup. */
export async function makeWorktree(
  workshop: Workshop,
  wanted: WantedTree,
  making: Making,
): Promise<{ readonly facts: WorktreeFacts; readonly output: string }> {
  const { store } = workshop;
  const { conversationId } = wanted;
  const settings = await readSettings(workshop.stateDir);
  await store.removeLeftover(conversationId);
  await makeRoom(store);
  const paths = store.begin(conversationId);
  try {
    const facts = await fill(workshop, { wanted, settings, paths }, making.signal);
    const { root, confinement } = workshop;
    const output = await setUp(settings, confinement, await folderOf(root, facts, paths), making);
    const made = { ...facts, createdMs: Date.now() };
    store.save(made);
    return { facts: made, output };
  } catch (error) {
    await store.remove(conversationId);
    throw error;
  }
}

/** Removes the worktree that has been idle for longest, if there are too many. */
async function makeRoom(store: WorktreeStore): Promise<void> {
  const kept = store.list();
  if (kept.length < WORKTREE_LIMITS.maxWorktrees) return;
  const isIdle = (usedMs: number) => Date.now() - usedMs > WORKTREE_LIMITS.idleMs;
  const idle = kept.findLast(({ usedMs, savedMs = 0 }) => isIdle(usedMs) && usedMs <= savedMs);
  if (idle) return await store.remove(idle.conversationId);
  throw worktreeFailed(
    `This bridge has ${kept.length} worktrees already, and more would fill the disk: the person must remove one ` +
      '(`drawbridge worktrees`).',
  );
}

interface Filling {
  readonly wanted: WantedTree;
  readonly settings: WorktreeSettings;
  readonly paths: WorktreePaths;
}

async function fill(
  { root, git, confinement, isForeign, account }: Workshop,
  { wanted, settings, paths }: Filling,
  signal: AbortSignal,
): Promise<WorktreeFacts> {
  if (await isForeign('.git')) throw worktreeFailed('A command has just made .git: try it again.');
  const repository = await findRepository(git, root, signal);
  const { conversationId, base: named = 'HEAD' } = wanted;
  const base = await findBase(git, repository, named, signal);
  const chosen = { wanted: wanted.branch, conversationId };
  const branch = await chooseBranch(git, repository, chosen, signal);
  const modules = await measure(git, repository, { base, folder: paths.folder }, signal);
  const status = await readGitStatus(root, signal, { confine: confinement.confineLook });
  const give = giverTo(account);
  const isConfined = confinement.kind !== 'none';
  const reach = { readable: [repository.objects], writable: [paths.tree] };
  const confine: GitCall['confine'] = isConfined
    ? (launch) => confinement.confineLook(launch, reach)
    : undefined;
  await checkOut(git, paths, { repository, branch, base, confine, give }, signal);
  const there = await workFolder(paths, repository.prefix);
  if (there === undefined) throw withoutFolder(repository.prefix);
  // No other sandbox shows a folder at another place.
  const canLink = confinement.kind === 'bubblewrap';
  const links = canLink ? await prepareLinks(settings.link, root, there) : [];
  const large = await largeFilesIn(git, paths, signal);
  return {
    conversationId,
    branch,
    base,
    prefix: repository.prefix,
    objects: repository.objects,
    uncommitted: hasChanges(status),
    links,
    modules,
    notes: [
      ...notesOf('submodule', modules).map((note) => `${note} ${NO_COMMIT_HOLDS}`),
      ...notesOf('file of Git LFS', large),
    ],
    createdMs: Date.now(),
    head: null,
  };
}

function withoutFolder(prefix: string): ToolFailure {
  return new ToolFailure(
    'BASE_NOT_FOUND',
    `That commit has no folder ${nameInLine(prefix)}, which the workspace is: name a newer one.`,
  );
}

/** The names of the commit's submodules. Throws a ToolFailure for a commit that is too large. */
async function measure(
  git: Git,
  { root }: Repository,
  { base, folder }: { base: string; folder: string },
  signal: AbortSignal,
): Promise<string[]> {
  const args = ['ls-tree', '-r', '-l', '-z', '--full-tree', base];
  const entries = (await git.run({ cwd: root, args, timeoutMs: WORKTREE_LIMITS.gitWorkMs, signal }))
    .split('\0')
    .map((entry) => /^(\d+) \S+ \S+ +(\S+)\t(.*)$/s.exec(entry) ?? []);
  const bytes = entries.reduce((sum, [, , size = '0']) => sum + (Number(size) || 0), 0);
  const { bavail, bsize } = await statfs(folder);
  const room = Math.min(
    WORKTREE_LIMITS.maxCheckoutBytes,
    bavail * bsize - WORKTREE_LIMITS.freeBytes,
  );
  if (bytes > room) {
    throw worktreeFailed(
      `The files of the commit have ${bytes} bytes, and there is room for ${Math.max(0, room)}: make room on the disk, or ` +
        'work in the folder itself.',
    );
  }
  return entries.flatMap(([, mode, , name = '']) => (mode === '160000' ? [name] : []));
}

/** Git has checked out only a note in the place of these files. */
async function largeFilesIn(
  git: Git,
  { tree }: WorktreePaths,
  signal: AbortSignal,
): Promise<string[]> {
  const args = ['ls-files', '-z', '--', ':(top,attr:filter=lfs)'];
  return (await git.run({ cwd: tree, args, signal })).split('\0').slice(0, -1);
}

const NO_COMMIT_HOLDS = 'Work there would be in no commit of this branch.';

function notesOf(what: string, names: readonly string[]): string[] {
  const [first] = names;
  if (first === undefined) return [];
  const others = names.length === 1 ? '' : ` and ${names.length - 1} more`;
  return [`Without the content of each ${what}: ${nameInLine(first)}${others}.`];
}

/** The first line names the branch. Without a status there may be some: git failed, or would have run a program. */
export function hasChanges(status: string | undefined): boolean {
  if (status === undefined) return true;
  return status.split('\n').some((line) => line !== '' && !line.startsWith('## '));
}

function giverTo(account: CommandUser | undefined): (path: string) => Promise<void> {
  const other = account && otherRights(account);
  return async (path) => {
    if (other === undefined) return;
    const owner = `${other.uid}:${other.gid}`;
    const options = { env: { PATH: '/usr/bin:/bin' } };
    await promisify(execFile)('chown', ['-R', '-h', owner, '--', path], options);
  };
}
