/**
 * The repository that the bridge keeps beside a worktree's files. Commands never see it. Whatever they do to the `.git`
 * among the files, the bridge compares and commits the files alone.
 */
import type { Stats } from 'node:fs';
import { cp, lstat, mkdir, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type BytePath, fromText, toBytes, toText } from '../../machine/byte-path.ts';
import { isSystemError } from '../../machine/system-error.ts';
import type { Confinement } from '../../packages/sandbox/index.ts';
import { nameInLine } from '../../shared/text/plain-sight.ts';
import type { Git, GitCall } from './git.ts';
import { gitFailed, worktreeFailed } from './git.ts';
import { WORKTREE_LIMITS } from './limits.ts';
import { type Repository, readShared } from './repository.ts';
import type { WorktreeFacts, WorktreePaths } from './store.ts';

export interface Checkout {
  readonly repository: Repository;
  readonly branch: string;
  readonly base: string;
  /** For git, which reads objects that the repository may have as links to elsewhere. */
  readonly confine: GitCall['confine'];
  /** Gives a file or folder that the bridge made to the user of the commands. */
  readonly give: (path: string) => Promise<void>;
}

/** Makes files and repositories. Both repositories borrow the person's objects, and change none. */
export async function checkOut(
  git: Git,
  { tree, record }: WorktreePaths,
  { repository, branch, base, confine, give }: Checkout,
  signal: AbortSignal,
): Promise<void> {
  const { format } = repository;
  await mkdir(tree);
  await give(tree);
  const run = (...args: readonly string[]) =>
    git.run({ cwd: tree, args, confine, timeoutMs: WORKTREE_LIMITS.gitWorkMs, signal });
  await run('init', '--quiet', '--template=', `--object-format=${format}`);
  await writeShared(join(tree, '.git'), repository, give);
  await run('config', 'gc.auto', '0');
  await run('update-ref', `refs/heads/${branch}`, base);
  await run('symbolic-ref', 'HEAD', `refs/heads/${branch}`);
  await run('read-tree', '-u', '--reset', base);
  await cp(join(tree, '.git'), record, { recursive: true });
  await give(record);
}

async function writeShared(
  dotGit: string,
  repository: Repository,
  give: Checkout['give'],
): Promise<void> {
  const shared = {
    'objects/info/alternates': `${repository.objects}\n`,
    'info/exclude': await readShared(repository, 'info/exclude'),
    shallow: await readShared(repository, 'shallow'),
  };
  await mkdir(join(dotGit, 'info'), { recursive: true });
  for (const [name, text] of Object.entries(shared)) {
    if (text !== undefined) await writeFile(join(dotGit, name), text);
  }
  await give(dotGit);
}

/** How git is asked about a worktree's record. */
export interface RecordCall extends Pick<GitCall, 'cwd' | 'confine'> {
  readonly env: { readonly GIT_DIR: string; readonly GIT_WORK_TREE: string };
}

/** Git reads files that commands wrote, and may be misled to others: it sees no more than commands do. */
export function recordCall(
  { objects }: Pick<WorktreeFacts, 'objects'>,
  { tree, record }: WorktreePaths,
  confinement: Confinement,
): RecordCall {
  const reach = { readable: [objects, tree], writable: [record] };
  const isConfined = confinement.kind !== 'none';
  return {
    cwd: tree,
    env: { GIT_DIR: record, GIT_WORK_TREE: tree },
    confine: isConfined ? (launch) => confinement.confineLook(launch, reach) : undefined,
  };
}

export interface Taken {
  /** The id of a tree with all files as they are now. */
  readonly tree: string;
  /** Whether the tree has all of the work: all files could be read, and `left` is empty. */
  readonly isWhole: boolean;
  /** Submodules and other repositories with work inside. Git stores of a repository no more than the id of a commit. */
  readonly left: readonly string[];
  /** Sentences about what the tree leaves out. */
  readonly notes: readonly string[];
}

/** Finds what has changed. All that git reads by it is what commands may have written. */
export class RecordSnapshot {
  readonly #git: Git;
  readonly #call: RecordCall;
  readonly #prefix: string;
  readonly #begunMs: number;
  readonly #signal: AbortSignal;

  constructor(
    git: Git,
    call: RecordCall,
    { prefix, createdMs }: Pick<WorktreeFacts, 'prefix' | 'createdMs'>,
    signal: AbortSignal,
  ) {
    this.#git = git;
    this.#call = call;
    this.#prefix = prefix;
    this.#begunMs = createdMs;
    this.#signal = signal;
  }

  async take(base: string): Promise<Taken> {
    await this.#forgetRepositories();
    await this.#assertSmall();
    const add = [...QUIETLY, 'add', '-A', '--ignore-errors', ...this.#inside()];
    const { code, complaint } = await this.#ask(...add);
    if (code !== 0 && code !== SOME_UNREADABLE) throw gitFailed(add, complaint);
    const repositories = await this.#leaveRepositoriesOut(base);
    const worked: string[] = [];
    for (const name of repositories) if (await this.#holdsWork(name)) worked.push(toText(name));
    // Of a long complaint the end is missing, which may be about a file.
    const isCut = complaint.length >= WORKTREE_LIMITS.maxComplaintChars;
    const lines = [...complaint.split('\n'), ...(isCut ? ['…'] : [])];
    const unread = lines.filter((line) => line !== '' && !ON_REPOSITORY.test(line));
    const ignored = (await this.#namesOf('--others', '--ignored', ...COMPACT)).map(toText);
    const notes = [
      ...(unread.length === 0 ? [] : [`${SOME_UNREAD}: ${unread.join('\n')}`]),
      ...(worked.length === 0 ? [] : [`${IN_REPOSITORIES}: ${listed(worked)}`]),
      ...(ignored.length === 0 ? [] : [`Left out, because git ignores it: ${listed(ignored)}`]),
    ];
    const tree = (await this.#run('write-tree')).trim();
    const left = worked.slice(0, WORKTREE_LIMITS.maxLeft);
    return { tree, isWhole: unread.length + worked.length === 0, left, notes };
  }

  /** The id of the new commit. `author` is git's environment. */
  async commit(
    tree: string,
    { parent, message, author }: { parent: string; message: string; author: GitCall['env'] },
  ): Promise<string> {
    const env = { ...this.#call.env, ...author };
    const args = ['commit-tree', '-p', parent, '-F', '-', tree];
    const call = { ...this.#call, env, args, input: `${message}\n`, signal: this.#signal };
    return (await this.#git.run(call)).trim();
  }

  async treeOf(commit: string): Promise<string> {
    return (await this.#run('rev-parse', '--verify', '--quiet', `${commit}^{tree}`)).trim();
  }

  async #assertSmall(): Promise<void> {
    let bytes = 0;
    let largest = { name: '', size: 0 };
    for (const name of await this.#namesOf('--others', '--modified')) {
      const stats = await this.#statsOf(name);
      const size = stats?.isFile() ? stats.size : 0;
      bytes += size;
      if (size > largest.size) largest = { name, size };
    }
    if (bytes <= WORKTREE_LIMITS.maxNewBytes) return;
    throw worktreeFailed(
      `The new and changed files have ${bytes} bytes, and ${WORKTREE_LIMITS.maxNewBytes} is the most: remove what is no ` +
        `source, or list it in .gitignore. The largest is ${JSON.stringify(toText(largest.name))}.`,
    );
  }

  /** "add" starts another git in each repository that it knows, and that git obeys the settings there. */
  async #forgetRepositories(): Promise<void> {
    const known = await this.#repositories();
    await this.#update(known.map((entry) => `0 ${entry.split(' ')[1]}\t${nameIn(entry)}\0`));
  }

  /** The index's entries that are other repositories. */
  async #repositories(): Promise<string[]> {
    const entries = (await this.#run('ls-files', '-z', '--stage')).split('\0');
    return entries.filter((entry) => entry.startsWith(`${REPOSITORY} `));
  }

  /** Names of files in the workspace, as `ls-files` lists them. */
  async #namesOf(...kinds: readonly string[]): Promise<BytePath[]> {
    const args = ['ls-files', '-z', '--exclude-standard', ...kinds, ...this.#inside()];
    return (await this.#run(...args)).split('\0').slice(0, -1);
  }

  /**
   * Git would store only the id of a commit, which no other repository has. Submodules stay as they were in `base`.
   * Returns the names of all repositories in the worktree.
   */
  async #leaveRepositoriesOut(base: string): Promise<BytePath[]> {
    const args = ['diff-index', '--cached', '--raw', '-z', '--no-renames', '--no-abbrev', base];
    const fields = (await this.#run(...args)).split('\0');
    const restored: string[] = [];
    const fresh: BytePath[] = [];
    for (let index = 0; index + 1 < fields.length; index += 2) {
      const [oldMode = '', newMode, oldId] = (fields[index] ?? '').slice(1).split(' ');
      const name = fields[index + 1] ?? '';
      const isForgotten = oldMode === REPOSITORY && (await this.#isFolder(name));
      if (newMode !== REPOSITORY && !isForgotten) continue;
      restored.push(`${oldMode === '000000' ? '0' : oldMode} ${oldId}\t${name}\0`);
      if (newMode === REPOSITORY) fresh.push(name);
    }
    await this.#update(restored);
    // A repository without a commit: git shows its name with `/` at the end, and nothing of what is in it.
    const bare = (await this.#namesOf('--others')).filter((name) => name.endsWith('/'));
    const known = (await this.#repositories()).map(nameIn);
    return [...new Set([...known, ...fresh, ...bare.map((name) => name.slice(0, -1))])];
  }

  /** Whether anything in a repository is newer than the worktree. Its `.git` does not count. */
  async #holdsWork(name: BytePath): Promise<boolean> {
    const pending = [`${fromText(this.#call.cwd)}/${name}`];
    for (let looked = 0; looked < WORKTREE_LIMITS.maxLookedEntries; ) {
      const folder = pending.pop();
      if (folder === undefined) return false;
      try {
        for (const entry of await readdir(toBytes(folder), LISTING)) {
          looked++;
          if (entry.name === '.git') continue;
          const path = `${folder}/${entry.name}`;
          if ((await lstat(toBytes(path))).ctimeMs >= this.#begunMs) return true;
          if (entry.isDirectory()) pending.push(path);
        }
      } catch (error) {
        // A folder that cannot be looked into may hold work. One that is gone, or a file in its place, holds none.
        if (!isSystemError(error, 'ENOENT', 'ENOTDIR')) return true;
      }
    }
    return true;
  }

  async #isFolder(name: BytePath): Promise<boolean> {
    return (await this.#statsOf(name))?.isDirectory() === true;
  }

  /** Undefined for what is not there any more. */
  async #statsOf(name: BytePath): Promise<Stats | undefined> {
    return await lstat(toBytes(`${fromText(this.#call.cwd)}/${name}`)).catch(() => undefined);
  }

  async #update(entries: readonly string[]): Promise<void> {
    if (entries.length === 0) return;
    const update = ['update-index', '-z', '--index-info'];
    await this.#git.run({ ...this.#work(update), input: entries.join('') });
  }

  /** Only the workspace, not the repository around it. */
  #inside(): readonly string[] {
    return ['--', this.#prefix === '' ? '.' : `:(top,literal)${this.#prefix}`];
  }

  #work(args: readonly string[]): GitCall {
    const timeoutMs = WORKTREE_LIMITS.gitWorkMs;
    return { ...this.#call, args, encoding: 'latin1', timeoutMs, signal: this.#signal };
  }

  async #run(...args: readonly string[]): Promise<string> {
    return await this.#git.run(this.#work(args));
  }

  async #ask(...args: readonly string[]) {
    return await this.#git.ask(this.#work(args));
  }
}

/** Without warnings about line ends: what is left of git's complaint is about files that are not in the index. */
const QUIETLY = ['-c', 'core.safecrlf=false', '-c', 'advice.addEmbeddedRepo=false'];

/** A repository without a commit, whose name git shows with `/` at its end. Git says it in two lines. */
const ON_REPOSITORY =
  /^error: (?:'.*\/' does not have a commit checked out|unable to (?:index file|add) '.*\/'(?: to index)?)$|^warning: adding embedded git repository: /;

/** A folder whose files are all ignored stands for them. */
const COMPACT = ['--directory', '--no-empty-directory'];

const LISTING = { withFileTypes: true, encoding: 'latin1' } as const;

const IN_REPOSITORIES =
  'Left out, because it is in submodules or repositories of their own; it is in the folder of this work alone';

const SOME_UNREAD = 'Some files could not be read, and may not be in it';

/** The mode of an entry that is another repository. */
const REPOSITORY = '160000';

/** The exit code of `add` where all but some files are in the index. */
const SOME_UNREADABLE = 1;

function listed(names: readonly string[]): string {
  const shown = names.slice(0, WORKTREE_LIMITS.maxShownNames).map(nameInLine).join(', ');
  const others = names.length - WORKTREE_LIMITS.maxShownNames;
  return others > 0 ? `${shown} and ${others} more` : shown;
}

function nameIn(entry: string): string {
  return entry.slice(entry.indexOf('\t') + 1);
}
