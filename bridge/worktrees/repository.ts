/** The person's repository: where it is, what a worktree can begin from, and the branch that it gets in the end. */
import { lstat, realpath } from 'node:fs/promises';
import { join } from 'node:path';
import { ToolFailure } from '../../machine/failure.ts';
import { readPlainFile } from '../../machine/private-files.ts';
import { linkedGitFolders } from '../../packages/workspace/index.ts';
import { nameInLine } from '../../shared/text/plain-sight.ts';
import { type Git, type GitCall, gitFailed, worktreeFailed } from './git.ts';
import { WORKTREE_LIMITS } from './limits.ts';

/** All paths are absolute and real. */
export interface Repository {
  /** The workspace. */
  readonly root: string;
  /** The workspace's path in the repository, with `/` at its end; empty for the whole repository. */
  readonly prefix: string;
  /** The folder that all worktrees of the repository share. */
  readonly common: string;
  readonly objects: string;
  readonly format: 'sha1' | 'sha256';
}

/** Throws a ToolFailure where the workspace has no repository, or one that a worktree cannot safely share. */
export async function findRepository(
  git: Git,
  root: string,
  signal: AbortSignal,
): Promise<Repository> {
  const asked = ['--show-toplevel', '--git-common-dir', '--show-object-format', '--show-prefix'];
  const args = ['rev-parse', '--path-format=absolute', ...asked];
  const { code, output, complaint } = await git.ask({ cwd: root, args, signal });
  if (/^fatal: not a git repository/m.test(complaint)) {
    throw notARepository('The workspace is in no git repository');
  }
  if (code !== 0) throw gitFailed(args, complaint);
  const [top = '', shared = '', format = '', prefix = ''] = output.split('\n');
  const common = await realpath(shared);
  if (!(await isOwnFolder(join(top, '.git'), common))) {
    throw notARepository(
      'The repository of the workspace is a submodule, or its .git leads to a folder that does not lead back',
    );
  }
  const objects = join(common, 'objects');
  await assertWhole(objects);
  return { root, prefix, common, objects, format: format === 'sha256' ? format : 'sha1' };
}

/** A command could write a `.git` that leads to any repository of the person's, whose objects it would then read. */
async function isOwnFolder(dotGit: string, common: string): Promise<boolean> {
  const stats = await lstat(dotGit).catch(() => undefined);
  if (stats?.isDirectory()) return (await realpath(dotGit)) === common;
  const { folders, isMutual } = await linkedGitFolders(dotGit);
  return isMutual && folders.includes(common);
}

async function assertWhole(objects: string): Promise<void> {
  const real = await realpath(objects).catch(() => '');
  const borrowed = await lstat(join(objects, 'info/alternates')).catch(() => undefined);
  if (real === objects && !borrowed && !objects.includes('\n')) return;
  throw worktreeFailed(
    'The repository borrows objects from another one, which the work in a worktree must not see: give it its own ' +
      '(git repack -a -d, then remove .git/objects/info/alternates).',
  );
}

function notARepository(what: string): ToolFailure {
  return new ToolFailure(
    'NOT_A_REPOSITORY',
    `${what}, so no worktree can be made: work in the folder itself, or make it a repository first (git init, and a commit).`,
  );
}

/** The commit's id. */
export async function findBase(
  git: Git,
  { root }: Repository,
  base: string,
  signal: AbortSignal,
): Promise<string> {
  const named = `${base}^{commit}`;
  const args = ['rev-parse', '--verify', '--quiet', '--end-of-options', named];
  const { code, output, complaint } = await git.ask({ cwd: root, args, signal });
  if (code === 0) return output.trim();
  if (code !== NOT_FOUND) throw gitFailed(args, complaint);
  throw new ToolFailure(
    'BASE_NOT_FOUND',
    base === 'HEAD'
      ? 'The repository has no commit yet: make a first one.'
      : `The repository has no commit ${nameInLine(base)}: name a commit, branch or tag that it has.`,
  );
}

/** The exit code of `rev-parse --verify --quiet`. */
const NOT_FOUND = 1;

/** The wanted name, if it is free and a name at all. Without one: the first free name of the conversation's. */
export async function chooseBranch(
  git: Git,
  repository: Repository,
  { wanted, conversationId }: { wanted: string | undefined; conversationId: string },
  signal: AbortSignal,
): Promise<string> {
  if (wanted !== undefined) {
    const args = ['check-ref-format', `refs/heads/${wanted}`];
    const { code, complaint } = await git.ask({ cwd: repository.root, args, signal });
    const shown = nameInLine(wanted);
    if (code !== 0 && code !== NO_NAME) throw gitFailed(args, complaint);
    if (code !== 0 || wanted === 'HEAD') {
      throw new ToolFailure('INVALID_ARGUMENTS', `${shown} cannot be the name of a branch.`);
    }
    if (await isFree(git, repository, wanted, signal)) return wanted;
    throw branchTaken(`The branch ${shown} exists already, or one whose name excludes this one`);
  }
  const short = conversationId.slice('conv_'.length, 'conv_'.length + 8);
  for (let number = 1; number <= WORKTREE_LIMITS.maxBranchTries; number++) {
    const name = `drawbridge/${short}${number === 1 ? '' : `-${number}`}`;
    if (await isFree(git, repository, name, signal)) return name;
  }
  throw branchTaken(`All branches drawbridge/${short}-… exist already`);
}

/** The exit code of `check-ref-format`. */
const NO_NAME = 1;

/** Git keeps branches as files in folders: beside `a` there is no `a/b`. */
async function isFree(
  git: Git,
  { root }: Repository,
  branch: string,
  signal: AbortSignal,
): Promise<boolean> {
  const ref = `refs/heads/${branch}`;
  const parts = branch.split('/');
  const above = parts.slice(1).map((_, index) => parts.slice(0, index + 1).join('/'));
  const [first = branch] = parts;
  const args = ['for-each-ref', '--format=%(refname)', `refs/heads/${first}`];
  const refs = (await git.run({ cwd: root, args, signal })).split('\n');
  const inTheWay = new Set([ref, ...above.map((name) => `refs/heads/${name}`)]);
  return !refs.some((name) => inTheWay.has(name) || name.startsWith(`${ref}/`));
}

function branchTaken(what: string): ToolFailure {
  return new ToolFailure('BRANCH_TAKEN', `${what}: name another branch, or remove that one.`);
}

/** A commit on its way from a worktree's own repository to the person's. */
export interface Landing {
  readonly branch: string;
  readonly base: string;
  readonly commit: string;
  /** The branch's commit before; null before the first one. */
  readonly before: string | null;
  /** Asks the repository that has the commit. */
  readonly source: Pick<GitCall, 'cwd' | 'env' | 'confine'>;
}

/** Gives the person's repository the branch. The same landing again changes nothing. */
export async function landBranch(
  git: Git,
  { root, common }: Repository,
  { branch, base, commit, before, source }: Landing,
  signal: AbortSignal,
): Promise<void> {
  const ref = `refs/heads/${branch}`;
  const { current, leadsTo, checkedOut } = await readBranch(git, root, ref, signal);
  if (current === commit) return;
  const shown = nameInLine(branch);
  if (current !== null && current !== before) {
    throw branchTaken(notFromThisWork(shown));
  }
  if (leadsTo !== '') throw branchTaken(`The branch ${shown} stands for another one`);
  if (checkedOut !== '') {
    throw branchTaken(`The branch ${shown} is checked out, and would change under its folder`);
  }
  const timeoutMs = WORKTREE_LIMITS.gitWorkMs;
  const pack = ['pack-objects', '--revs', '--thin', '--stdout', '--quiet'];
  await git.pipe(
    { ...source, args: pack, input: `${commit}\n^${base}\n`, timeoutMs, signal },
    { cwd: common, env: { GIT_DIR: common }, args: TAKE_IN, timeoutMs, signal },
  );
  const none = '0'.repeat(commit.length);
  const updated = [ref, commit, current ?? none];
  const update = ['update-ref', '--no-deref', '-m', 'drawbridge: commit', ...updated];
  const { code, complaint } = await git.ask({ cwd: root, args: update, env: WRITER, signal });
  if (code === 0) return;
  const now = await readBranch(git, root, ref, signal);
  if (now.current === commit) return;
  throw now.current === current
    ? gitFailed(update, complaint)
    : branchTaken(notFromThisWork(shown));
}

async function readBranch(git: Git, root: string, ref: string, signal: AbortSignal) {
  const args = ['for-each-ref', `--format=${BRANCH}`, ref];
  const lines = (await git.run({ cwd: root, args, signal })).split('\n');
  const [, current = null, leadsTo = '', checkedOut = ''] =
    lines.map((line) => line.split(' ')).find(([name]) => name === ref) ?? [];
  return { current, leadsTo, checkedOut };
}

function notFromThisWork(shown: string): string {
  return `The branch ${shown} has a commit that is not from this work`;
}

const BRANCH = '%(refname) %(objectname) %(symref) %(worktreepath)';

/** Git 2.39 does not find the objects that are there already when it begins in a folder of the repository. */
const TAKE_IN = ['index-pack', '--stdin', '--fix-thin', '--strict'];

/** The name in the reference's log where the person has set none. */
const WRITER = { GIT_COMMITTER_NAME: 'Drawbridge', GIT_COMMITTER_EMAIL: 'drawbridge@localhost' };

/** A file of the repository's folder that a worktree's own repository takes over; undefined where there is none. */
export async function readShared(
  { common }: Repository,
  name: 'shallow' | 'info/exclude',
): Promise<string | undefined> {
  return await readPlainFile(join(common, name)).catch(() => undefined);
}
