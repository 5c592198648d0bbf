/** Git's status of the workspace, read without running anything that a repository configures. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { SYSTEM_PATH } from '../../machine/programs.ts';
import {
  BoundedOutput,
  type Confinement,
  type Launch,
  runCommand,
} from '../../packages/sandbox/index.ts';
import { cutLines } from '../../shared/text/cut-lines.ts';
import { STATUS_LIMITS } from './limits.ts';

type NameFilter = (name: string) => boolean;

export interface StatusLook {
  readonly confine?: Confinement['confineLook'] | undefined;
  /** Whether a path, relative to the workspace, may be named. A folder that git does not track ends with `/`. */
  readonly mayName?: NameFilter | Promise<NameFilter> | undefined;
}

/**
 * Undefined where there is no git, no repository, or one that cannot be read safely. A running command can change the
 * repository's configuration after our check; `confine` confines whatever git then starts. Git opens some files by name
 * and would wait for a pipe in their place. When git does not answer in time, a second try skips untracked files, for
 * which git reads `.gitignore`. When that fails too, a sentence replaces the status.
 */
export async function readGitStatus(
  root: string,
  signal: AbortSignal,
  { confine = async (launch) => launch, mayName = () => true }: StatusLook = {},
): Promise<string | undefined> {
  try {
    const [filters, prefix] = await Promise.all([
      readFilterNames(root, signal),
      readPrefix(root, signal),
    ]);
    const settings = [...SAFE, ...withoutFilters(filters)];
    const ask = async (timeoutMs: number, ...more: readonly string[]) => {
      const launch = await confine(launchOf(root, [...settings, ...STATUS, ...more, ...HERE]));
      return await outputOf(launch, timeoutMs, signal);
    };
    const format = async (output: string) => formatStatus(output, prefix, await mayName);
    const whole = await ask(STATUS_LIMITS.gitStatusMs);
    if (whole !== null) return await format(whole);
    const known = await ask(STATUS_LIMITS.gitQuickMs, '--untracked-files=no');
    return known === null ? NO_ANSWER : `${(await format(known)).trimEnd()}\n${NO_NEW_FILES}`;
  } catch {
    signal.throwIfAborted();
    return undefined; // Every failure has one of the reasons above.
  }
}

const NO_NEW_FILES = '(git did not answer in time with the files that are not tracked.)';
const NO_ANSWER = '(git did not answer in time. A pipe in the place of .gitattributes does that.)';

/**
 * Turns off everything that `status` could run by itself. A folder that only looks like a repository, such as a
 * checked-in one, does not count. The settings stand on the command line, because git reads them from the environment
 * only since version 2.31.
 */
const SAFE = [
  '-c',
  'core.fsmonitor=false',
  // A bridge that runs as root may read a folder of another user.
  '-c',
  'safe.directory=*',
  '-c',
  'core.hooksPath=/dev/null',
  '-c',
  'safe.bareRepository=explicit',
];

/** Submodules have a configuration of their own. The status covers only the workspace, not the repository around it. */
export const STATUS = ['status', '--short', '--branch', '-z', '--ignore-submodules=all'];
const HERE = ['--', '.'];

/**
 * `status` runs the clean filter of a file whose time has changed, so filters are listed and each is emptied. The list
 * includes filters from included files and worktrees. Diff programs do not matter: `status` shows no differences.
 */
async function readFilterNames(root: string, signal: AbortSignal): Promise<string[]> {
  const names = await runGit(root, [...SAFE, 'config', '--list', '--name-only', '--null'], signal);
  // A filter's name may contain dots, or be empty.
  return names.split('\0').flatMap((name) => /^filter\.(.*)\.[^.]+$/s.exec(name)?.[1] ?? []);
}

function withoutFilters(names: readonly string[]): string[] {
  return [...new Set(names)].flatMap((name) => {
    // Git would take the rest of the name for the value, and the filter would stay.
    if (name.includes('=')) throw new Error('a filter that cannot be emptied');
    const empty = ['clean', 'smudge', 'process'].map((key) => `filter.${name}.${key}=`);
    return [...empty, `filter.${name}.required=false`].flatMap((setting) => ['-c', setting]);
  });
}

/** Drops git's error output, which is not part of the status. */
function launchOf(root: string, args: readonly string[]): Launch {
  const shell = ['-c', 'exec git "$@" 2>/dev/null', 'sh', ...args];
  const env = environment();
  return { file: '/bin/sh', args: shell, cwd: root, env, inputs: [], hasPidNamespace: false };
}

/** The workspace's path in its repository. With `-z`, git prints names relative to the repository. */
async function readPrefix(root: string, signal: AbortSignal): Promise<string> {
  const output = await runGit(root, [...SAFE, 'rev-parse', '--show-prefix'], signal);
  return output.replace(/\n$/, '');
}

/** The status for the model, from what git prints for {@link STATUS}. `prefix` is as {@link readPrefix}. */
export function formatStatus(
  output: string,
  prefix: string,
  mayName: (name: string) => boolean,
): string {
  const lines = linesOf(output.split('\0').slice(0, -1), prefix, mayName);
  return cutLines(lines, STATUS_LIMITS.maxGitStatusChars, 'run git status');
}

/** One line for each entry. A renamed file has its old name in an entry of its own. */
function linesOf(
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

/** Quotes like git, but keeps letters as they are. */
function quote(name: string): string {
  return /[\s\p{C}"\\]/u.test(name) ? JSON.stringify(name) : name;
}

/** Null where git did not answer in time. */
async function outputOf(
  launch: Launch,
  timeoutMs: number,
  signal: AbortSignal,
): Promise<string | null> {
  const kept = new BoundedOutput(STATUS_LIMITS.maxGitBytes);
  const { end } = await runCommand(launch, { timeoutMs, onOutput: () => {}, signal, kept });
  if (end.state === 'stopped' && end.reason === 'timeout') return null;
  if (end.state !== 'exited' || end.exitCode !== 0) throw new Error(`git: ${end.state}`);
  const { text } = kept.read(0, kept.length);
  // With a part left out, the end of one name would follow the beginning of another.
  if (text.length !== kept.length) throw new Error('git: its status is too long');
  return text;
}

async function runGit(root: string, args: readonly string[], signal: AbortSignal): Promise<string> {
  const { stdout } = await promisify(execFile)('git', args, {
    cwd: root,
    env: environment(),
    timeout: STATUS_LIMITS.gitQuickMs,
    killSignal: 'SIGKILL',
    maxBuffer: STATUS_LIMITS.maxGitBytes,
    signal,
  });
  return stdout;
}

/** Only the repository's configuration, no locks, and no fetching of objects that a partial clone lacks. */
function environment(): Record<string, string> {
  return {
    PATH: SYSTEM_PATH,
    HOME: '/nonexistent',
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_OPTIONAL_LOCKS: '0',
    GIT_NO_LAZY_FETCH: '1',
    GIT_ALLOW_PROTOCOL: 'none',
  };
}
