/** Git's status of the workspace, without running anything that a repository configures. */
import { execFile } from 'node:child_process';
import { isAbsolute, relative, sep } from 'node:path';
import { promisify } from 'node:util';
import { CONTEXT_LIMITS } from '../../shared/limits.ts';
import type { Confinement } from '../sandbox/confinement.ts';
import type { Launch } from '../terminal/launch.ts';
import { runCommand } from '../terminal/run-command.ts';

export interface StatusLook {
  readonly confine?: Confinement['confineLook'] | undefined;
  /** Whether a path may be named, relative to the workspace; a folder that git does not know ends with `/`. */
  readonly mayName?: ((name: string) => boolean) | undefined;
}

/**
 * Undefined where there is no git, no repository, or one that cannot be looked at safely. What a repository configures
 * can change after we have looked, by a command at work: `confine` holds what git could still be made to run. git opens
 * some files by name and would wait for a pipe in their place: it is asked again without looking for new files, which is
 * where it meets `.gitignore`, and where that is not enough a sentence stands for the status.
 */
export async function readGitStatus(
  root: string,
  signal: AbortSignal,
  { confine = async (launch) => launch, mayName = () => true }: StatusLook = {},
): Promise<string | undefined> {
  try {
    const settings = [...SAFE, ...withoutFilters(await readFilterNames(root, signal))];
    const ask = async (timeoutMs: number, ...more: readonly string[]) => {
      const launch = await confine(launchOf(root, [...settings, ...STATUS, ...more, ...HERE]));
      return await outputOf(launch, timeoutMs, signal);
    };
    const prefix = await readPrefix(root, signal);
    const format = (output: string) =>
      cut(formatStatus(output.split('\0').slice(0, -1), prefix, mayName));
    const whole = await ask(CONTEXT_LIMITS.gitStatusMs);
    if (whole !== null) return format(whole);
    const known = await ask(CONTEXT_LIMITS.gitQuickMs, '--untracked-files=no');
    return known === null ? NO_ANSWER : `${format(known).trimEnd()}\n${NO_NEW_FILES}`;
  } catch {
    signal.throwIfAborted();
    return undefined; // Any failure is one of the above.
  }
}

const NO_NEW_FILES = '(git did not answer in time with the files that are not tracked.)';
const NO_ANSWER = '(git did not answer in time. A pipe in the place of .gitattributes does that.)';

/**
 * What `status` could run by itself. A folder that only looks like a repository, such as a checked-in one, is none. On
 * the command line and not in the environment, which git does not read before version 2.31.
 */
const SAFE = [
  ...['-c', 'core.fsmonitor=false'],
  // A bridge of root's looks at a folder of somebody else's.
  ...['-c', 'safe.directory=*'],
  ...['-c', 'core.hooksPath=/dev/null'],
  ...['-c', 'safe.bareRepository=explicit'],
];

/** Submodules have a configuration of their own. Only the workspace is looked at, not the repository around it. */
const STATUS = ['status', '--short', '--branch', '-z', '--ignore-submodules=all'];
const HERE = ['--', '.'];

/**
 * `status` runs the clean filter of a file whose time has changed, so filters are listed and each is emptied. The list
 * has what included files and worktrees add. Programs for differences do not matter: `status` shows none.
 */
async function readFilterNames(root: string, signal: AbortSignal): Promise<string[]> {
  const names = await runGit(root, [...SAFE, 'config', '--list', '--name-only', '--null'], signal);
  // A filter may have dots in its name, and an empty name.
  return names.split('\0').flatMap((name) => /^filter\.(.*)\.[^.]+$/s.exec(name)?.[1] ?? []);
}

function withoutFilters(names: readonly string[]): string[] {
  return [...new Set(names)].flatMap((name) => {
    // The rest of the name would be taken for the value, and the filter would stay.
    if (name.includes('=')) throw new Error('a filter that cannot be emptied');
    const empty = ['clean', 'smudge', 'process'].map((key) => `filter.${name}.${key}=`);
    return [...empty, `filter.${name}.required=false`].flatMap((setting) => ['-c', setting]);
  });
}

/** Its complaints are not part of the status. */
function launchOf(root: string, args: readonly string[]): Launch {
  const shell = ['-c', 'exec git "$@" 2>/dev/null', 'sh', ...args];
  const env = environment(root);
  return { file: '/bin/sh', args: shell, cwd: root, env, inputs: [], hasPidNamespace: false };
}

/** Where the workspace is in its repository: names are told from there, since they end with a NUL. */
async function readPrefix(root: string, signal: AbortSignal): Promise<string> {
  const output = await runGit(root, [...SAFE, 'rev-parse', '--show-prefix'], signal);
  return output.replace(/\n$/, '');
}

/** One line for each entry; a renamed file has its old name in an entry of its own. */
function formatStatus(
  entries: readonly string[],
  prefix: string,
  mayName: (name: string) => boolean,
): string {
  const left = entries.values();
  let lines = '';
  for (const entry of left) {
    const letters = entry.slice(0, 2);
    const old = /[RC]/.test(letters) ? left.next().value : undefined;
    const names = [...(old === undefined ? [] : [old]), entry.slice(3)].map((name) =>
      name.startsWith(prefix) ? name.slice(prefix.length) || './' : name,
    );
    if (letters === '##') lines += `${entry}\n`;
    else if (names.every(mayName)) lines += `${letters} ${names.map(quote).join(' -> ')}\n`;
  }
  return lines;
}

/** As git does it, but letters stay as they are. */
function quote(name: string): string {
  return /[\s\p{C}"\\]/u.test(name) ? JSON.stringify(name) : name;
}

/** Null where git did not answer in time. */
async function outputOf(
  launch: Launch,
  timeoutMs: number,
  signal: AbortSignal,
): Promise<string | null> {
  const { end, output } = await runCommand(launch, { timeoutMs, onOutput: () => {}, signal });
  if (end.state === 'stopped' && end.reason === 'timeout') return null;
  if (end.state !== 'exited' || end.exitCode !== 0) throw new Error(`git: ${end.state}`);
  return output;
}

async function runGit(root: string, args: readonly string[], signal: AbortSignal): Promise<string> {
  const { stdout } = await promisify(execFile)('git', args, {
    cwd: root,
    env: environment(root),
    timeout: CONTEXT_LIMITS.gitQuickMs,
    killSignal: 'SIGKILL',
    maxBuffer: CONTEXT_LIMITS.maxGitBytes,
    signal,
  });
  return stdout;
}

/** No configuration but the repository's, no locks, and no fetching of what a partial clone lacks. */
function environment(root: string): Record<string, string> {
  return {
    PATH: trustedFolders(root).join(':'),
    HOME: '/nonexistent',
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_OPTIONAL_LOCKS: '0',
    GIT_NO_LAZY_FETCH: '1',
    GIT_ALLOW_PROTOCOL: 'none',
  };
}

/** Not those of the workspace, where a tool call could plant a git of its own. */
function trustedFolders(root: string): string[] {
  return (process.env['PATH'] ?? '').split(':').filter((folder) => {
    const way = relative(root, folder);
    const isInside = way !== '..' && !way.startsWith(`..${sep}`);
    return isAbsolute(folder) && !isInside;
  });
}

function cut(status: string): string {
  const { maxGitStatusChars } = CONTEXT_LIMITS;
  if (status.length <= maxGitStatusChars) return status;
  const lines = status.slice(0, maxGitStatusChars).split('\n').slice(0, -1);
  return [...lines, '... (cut)'].join('\n');
}
