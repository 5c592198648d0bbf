/** The difference between two trees of a worktree, for people and the model. */
import { join } from 'node:path';
import type { ClosedWorktree } from '../../shared/tools/worktree.ts';
import type { Git, GitCall } from './git.ts';
import { WORKTREE_LIMITS } from './limits.ts';
import type { RecordCall } from './record.ts';

export interface Compared {
  readonly base: string;
  /** A tree's or a commit's id. */
  readonly now: string;
  /** Whether the content of a file may be shown, by its path in the repository. */
  readonly mayShow: (path: string) => boolean;
}

/**
 * Lists all changed files, and shows the content of those that may be shown, both within bounds. Git looks for
 * attributes among the files of the work and in their index, where `* -diff` would hide a change: it gets neither.
 */
export async function readDifference(
  git: Git,
  { confine, env }: RecordCall,
  { base, now, mayShow }: Compared,
  signal: AbortSignal,
): Promise<Pick<ClosedWorktree, 'files' | 'omitted' | 'diff'>> {
  const timeoutMs = WORKTREE_LIMITS.gitWorkMs;
  const { GIT_DIR } = env;
  const comparing = (...args: readonly string[]): GitCall => ({
    cwd: GIT_DIR,
    env: { GIT_DIR, GIT_WORK_TREE: GIT_DIR, GIT_INDEX_FILE: join(GIT_DIR, 'no-index') },
    confine,
    args: [...COMPARE, ...args],
    timeoutMs,
    signal,
  });
  const raw = await git.run(comparing('-z', '--raw', base, now));
  const counts = await git.run(comparing('-z', '--numstat', base, now));
  const files = withLines(parseRaw(raw), counts);
  // A rename is hidden under both names: the patch would show one as added and the other as deleted.
  const namesOf = ({ path, from }: ChangedFile) => (from === undefined ? [path] : [path, from]);
  const hidden = files
    .map(namesOf)
    .filter((names) => !names.every(mayShow))
    .flat();
  const listed = fitting(files);
  const all = { files: listed, omitted: files.length - listed.length };
  if (hidden.length > WORKTREE_LIMITS.maxHiddenFiles) return { ...all, diff: TOO_MANY_HIDDEN };
  // One NUL makes a script binary to git, which then shows nothing of it. Real ones come last, where the cut is.
  const binary = files
    .filter(({ added }) => added === null)
    .map(namesOf)
    .filter((names) => names.every(mayShow))
    .flat();
  const isFew = binary.length <= WORKTREE_LIMITS.maxHiddenFiles;
  const without = hidden.map(excluding);
  const patchOf = async (...args: readonly string[]) => {
    const maxBytes = WORKTREE_LIMITS.maxDiffChars * MAX_UTF8;
    return await git.run({ ...comparing('--patch', ...args, ...without), maxBytes });
  };
  const shown = isFew ? binary : [];
  const parts = [await patchOf(base, now, '--', ':(top)', ...shown.map(excluding))];
  if (shown.length > 0) {
    parts.push(AS_TEXT, await patchOf('--text', base, now, '--', ...shown.map(including)));
  }
  return { ...all, diff: cutDiff(parts.join(''), hidden) };
}

const AS_TEXT = '[the files that follow are binary to git: their bytes, shown as text]\n';

const COMPARE = [
  'diff-tree',
  '-r',
  '--find-renames',
  '--no-ext-diff',
  '--no-textconv',
  '--no-color',
];

const excluding = (path: string) => pathspecOf(path, 'exclude,');
const including = (path: string) => pathspecOf(path, '');

/** A name that is not UTF-8 came with replacement characters, which no name on the disk has: there, any name matches. */
function pathspecOf(path: string, magic: 'exclude,' | ''): string {
  if (!path.includes(REPLACEMENT)) return `:(${magic}top,literal)${path}`;
  const glob = path.replaceAll(/[*?[\\]/g, '\\$&').replaceAll(REPLACEMENT, '*');
  return `:(${magic}top,glob)${glob}`;
}

const REPLACEMENT = '\ufffd';

const MAX_UTF8 = 4;
const TOO_MANY_HIDDEN = '[left out: too many of the files may not be read by tools]\n';

type ChangedFile = ClosedWorktree['files'][number];

const STATUS: Readonly<Record<string, ChangedFile['status']>> = {
  A: 'added',
  D: 'deleted',
  R: 'renamed',
};

/** Reads `--raw -z`: a line of facts, then the path; of a renamed file both paths. */
function parseRaw(raw: string): ChangedFile[] {
  const fields = raw.split('\0').values();
  const files: ChangedFile[] = [];
  for (const facts of fields) {
    if (!facts.startsWith(':')) continue;
    const letter = facts.split(' ')[4]?.[0] ?? '';
    const status = STATUS[letter] ?? 'modified';
    const first = fields.next().value ?? '';
    const lines = { added: null, removed: null };
    if (status !== 'renamed') files.push({ path: first, status, ...lines });
    else files.push({ path: fields.next().value ?? '', status, ...lines, from: first });
  }
  return files;
}

/** Reads `--numstat -z`, which has the same files in the same order. A renamed file has its paths in two more fields. */
function withLines(files: readonly ChangedFile[], numstat: string): ChangedFile[] {
  const fields = numstat.split('\0').values();
  return files.map((file) => {
    const [added = '-', removed = '-'] = (fields.next().value ?? '').split('\t');
    if (file.status === 'renamed') {
      fields.next();
      fields.next();
    }
    return { ...file, added: countOf(added), removed: countOf(removed) };
  });
}

function countOf(text: string): number | null {
  return text === '-' ? null : Number(text);
}

function fitting(files: readonly ChangedFile[]): ChangedFile[] {
  let left: number = WORKTREE_LIMITS.maxFilesBytes;
  return files.slice(0, WORKTREE_LIMITS.maxFiles).filter((file) => {
    left -= Buffer.byteLength(JSON.stringify(file)) + 1;
    return left >= 0;
  });
}

function cutDiff(diff: string, hidden: readonly string[]): string {
  const notes = hidden.map(
    (path) => `[left out: ${JSON.stringify(path)} may not be read by tools]\n`,
  );
  const { maxDiffChars } = WORKTREE_LIMITS;
  if (diff.length <= maxDiffChars) return `${diff}${notes.join('')}`;
  const whole = diff.slice(0, diff.lastIndexOf('\n', maxDiffChars) + 1).toWellFormed();
  return `${whole}[cut: the diff goes on]\n${notes.join('')}`;
}
