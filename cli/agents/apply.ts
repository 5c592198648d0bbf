/** Merges the commit of a background agent into the branch that the person's repository has checked out. */
import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { LocalError } from '../../machine/local-error.ts';
import type { Agent } from '../../shared/api/agents.ts';
import { inPlainSight, nameInLine } from '../../shared/text/plain-sight.ts';
import { MIB } from '../../shared/units.ts';
import { ownCommand } from '../terminal/own-command.ts';
import { findProgram, foldersOutside } from '../terminal/programs.ts';

/** What a merge would bring. */
export interface AgentMerge {
  /** The repository, or a folder in it. */
  readonly folder: string;
  /** The commit that the person saw: the branch may get more. */
  readonly commit: string;
  readonly branch: string;
  /** In git's format and in plain sight. Empty where the checked out branch has all of it. */
  readonly diff: string;
}

/** @throws {LocalError} if the agent has no commit, or the repository of the folder does not have it. */
export async function previewMerge(
  { id, worktree }: Pick<Agent, 'id' | 'worktree'>,
  folder: string,
): Promise<AgentMerge> {
  if (!worktree) throw new LocalError('refused', 'The agent has no branch of its own to merge.');
  const { committed, head = '', path } = worktree;
  const branch = nameInLine(worktree.branch);
  if (!committed) {
    const where = `It is in ${nameInLine(path)}`;
    const next = `\`${ownCommand('agents', 'create', '--commit')}\` starts an agent that commits`;
    throw new LocalError('refused', `The agent did not commit its work. ${where}; ${next}.`);
  }
  const found = await git(folder, 'rev-parse', '--verify', '--end-of-options', `${head}^{commit}`);
  if (!found.isDone) {
    const show = ownCommand('agents', 'show', id);
    const where = `The repository of this folder does not have the commit of ${branch}`;
    throw new LocalError('refused', `${where}. Go to the folder of the agent: see \`${show}\`.`);
  }
  const commit = found.words;
  const diff = await plainDifference(folder, commit);
  if (!diff.isDone) throw new LocalError('failed', `git shows no difference: ${diff.words}`);
  return { folder, commit, branch, diff: diff.words };
}

/**
 * What the commit has since it left the checked out branch. Attributes (`* -diff`), which lie among the files and in
 * the repository's own folder, could hide a part of it: so an empty repository compares, which borrows the objects.
 */
async function plainDifference(folder: string, commit: string): Promise<GitResult> {
  const asked = await git(folder, 'rev-parse', '--show-object-format', '--git-path', 'objects');
  const [format, objects = ''] = asked.output.split('\n');
  const base = await git(folder, 'merge-base', 'HEAD', commit);
  const failed = [asked, base].find(({ isDone }) => !isDone);
  if (failed) return failed;
  const empty = await mkdtemp(join(tmpdir(), 'drawbridge-diff-'));
  try {
    const made = await git(
      empty,
      'init',
      '-q',
      '--bare',
      '--template=',
      `--object-format=${format}`,
    );
    if (!made.isDone) return made;
    await mkdir(join(empty, 'objects/info'), { recursive: true });
    await writeFile(join(empty, 'objects/info/alternates'), `${resolve(folder, objects)}\n`);
    const compare = (...args: readonly string[]) =>
      git(empty, '--git-dir=.', 'diff-tree', '-r', '--find-renames', ...PLAIN_DIFF, ...args);
    const both = [base.words, commit] as const;
    const counts = await compare('--numstat', '-z', ...both);
    if (!counts.isDone) return counts;
    // One NUL makes a script binary to git, which then shows nothing of it. Real ones come last.
    const binary = binaryPaths(counts.output);
    const others = binary.map((path) => `:(exclude,literal)${path}`);
    const patch = await compare('--patch', ...both, '--', '.', ...others);
    if (!patch.isDone || binary.length === 0) return patch;
    const paths = binary.map((path) => `:(literal)${path}`);
    const asText = await compare('--patch', '--text', ...both, '--', ...paths);
    const words = [patch.words, AS_TEXT, asText.words].filter((part) => part !== '').join('\n');
    return { ...asText, words };
  } finally {
    await rm(empty, { recursive: true, force: true });
  }
}

const AS_TEXT = 'Git treats the following files as binary. Their bytes are shown as text.';

/** Of `--numstat -z`, which has no counts for them. A renamed file has its paths in two more fields. */
function binaryPaths(numstat: string): string[] {
  const fields = numstat.split('\0').values();
  const paths: string[] = [];
  for (const field of fields) {
    const [, added, path] = /^(\S+)\t\S+\t(.*)$/s.exec(field) ?? [];
    const names = path === '' ? [fields.next().value, fields.next().value] : [path];
    if (added === '-') paths.push(...names.filter((name) => name !== undefined));
  }
  return paths;
}

/** Resolves to git's words. @throws {LocalError} with git's words if it did not merge, for example for a conflict. */
export async function merge({ folder, commit, branch }: AgentMerge): Promise<string> {
  const { isDone, words } = await git(folder, 'merge', '-m', `Merge ${branch}`, commit);
  if (!isDone) throw new LocalError('failed', `git did not merge ${branch}: ${words}`);
  return words;
}

/**
 * The first lines of the difference, and how to read the others. As text, because the plain command obeys the
 * attributes of the folder, which can call a file binary.
 */
export function diffText({ diff, commit }: AgentMerge): string {
  const lines = diff.split('\n');
  const more = lines.length - MAX_LINES;
  if (more <= 0) return diff;
  const command = ['git', 'diff', '--text', ...PLAIN_DIFF, `HEAD...${commit}`].join(' ');
  const rest = `… ${more} more lines: \`${command}\` shows all`;
  return [...lines.slice(0, MAX_LINES), rest].join('\n');
}

/** The answer to a preview with an empty difference. */
export const NOTHING_TO_MERGE = 'The current branch already has this commit.';

/** Without programs that the repository's settings name. */
const PLAIN_DIFF = ['--no-color', '--no-ext-diff', '--no-textconv'];

const MAX_LINES = 1_000;
const MAX_BYTES = 64 * MIB;

interface GitResult {
  readonly isDone: boolean;
  readonly output: string;
  /** What it printed, in plain sight, with its complaints where it failed. */
  readonly words: string;
}

/** Uses no git in the folder, where the agent can write. */
async function git(folder: string, ...args: readonly string[]): Promise<GitResult> {
  const program = findProgram('git', foldersOutside(folder));
  if (program === undefined) throw new LocalError('failed', 'There is no git on the PATH.');
  const words = (stdout: string, stderr: string) =>
    inPlainSight(`${stdout}${stderr}`.trim().replaceAll('\t', '    '));
  const options = { cwd: folder, maxBuffer: MAX_BYTES };
  return await promisify(execFile)(program, args, options).then(
    ({ stdout }) => ({ isDone: true, output: stdout, words: words(stdout, '') }),
    ({ stdout = '', stderr = '' }) => ({
      isDone: false,
      output: stdout,
      words: words(stdout, stderr),
    }),
  );
}
