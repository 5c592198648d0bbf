/** The environment of commands: what tools need to find each other, and no secret. */
import type { Permission } from '../../shared/tools/run-terminal-cmd.ts';

/** Names that are passed on to a confined command. Anything else may be a token. */
const PASSED_ON: ReadonlySet<string> = new Set([
  'PATH',
  'HOME',
  'USER',
  'LOGNAME',
  'SHELL',
  'LANG',
  'LANGUAGE',
  'LC_ALL',
  'LC_CTYPE',
  'TZ',
  'NODE_ENV',
  'NVM_DIR',
  'VOLTA_HOME',
  'PNPM_HOME',
  'VIRTUAL_ENV',
  'PYENV_ROOT',
  'GOPATH',
  'GOROOT',
  'JAVA_HOME',
  'CARGO_HOME',
  'RUSTUP_HOME',
]);

/** Nobody is there to answer a prompt, to page, or to enjoy colours. */
const UNATTENDED = {
  CI: '1',
  NO_COLOR: '1',
  TERM: 'dumb',
  PAGER: 'cat',
  GIT_PAGER: 'cat',
  GIT_TERMINAL_PROMPT: '0',
  // It means to take a text as it is, whatever editor a repository configures.
  GIT_EDITOR: ':',
  GIT_SEQUENCE_EDITOR: ':',
  // Else `git status` would try to refresh the index, which is read-only.
  GIT_OPTIONAL_LOCKS: '0',
} as const;

/** Names of settings of git, and their values. */
type GitSettings = readonly (readonly [name: string, value: string])[];

/**
 * What looks at a repository runs nothing that the repository configures. A folder with `HEAD`, `objects` and `refs` is
 * one to git, wherever it lies, and file tools can write such a folder: it counts only when a command names it.
 */
const GIT_RUNS_LESS: GitSettings = [
  ['safe.bareRepository', 'explicit'],
  ['core.fsmonitor', 'false'],
];

/** Hooks are files that may lie in the workspace, and the signatures in a log are looked at by a program. */
const GIT_RUNS_NOTHING: GitSettings = [
  ...GIT_RUNS_LESS,
  ['core.hooksPath', '/dev/null'],
  ['log.showSignature', 'false'],
];

/**
 * For a command under limits: only what is on the list. With `git_write` hooks run: a person has let it change the
 * repository, and a commit or push that leaves hooks out is another one (large files, change ids, checks).
 */
export function limitedEnvironment(
  own: NodeJS.ProcessEnv,
  permissions: readonly Permission[] = [],
): Record<string, string> {
  const settings = permissions.includes('git_write') ? GIT_RUNS_LESS : GIT_RUNS_NOTHING;
  return { ...pick(own, (name) => PASSED_ON.has(name)), ...gitSettings(settings) };
}

/** For a command that a person let have `all`: everything but what is Drawbridge's own. */
export function fullEnvironment(own: NodeJS.ProcessEnv): Record<string, string> {
  const environment = pick(own, (name) => !name.startsWith('DRAWBRIDGE_'));
  return { ...environment, ...gitSettings(GIT_RUNS_LESS, own['GIT_CONFIG_COUNT']) };
}

/**
 * Settings of git as its environment. They weigh more than those of any file, and come after as many as are there
 * already; a count that git would not take is begun anew.
 */
function gitSettings(settings: GitSettings, counted = '0'): Record<string, string> {
  const first = /^\d{1,6}$/.test(counted) ? Number(counted) : 0;
  const entries = settings.flatMap(([name, value], index) => [
    [`GIT_CONFIG_KEY_${first + index}`, name],
    [`GIT_CONFIG_VALUE_${first + index}`, value],
  ]);
  return { ...Object.fromEntries(entries), GIT_CONFIG_COUNT: String(first + settings.length) };
}

function pick(own: NodeJS.ProcessEnv, isPicked: (name: string) => boolean): Record<string, string> {
  const environment: Record<string, string> = {};
  for (const [name, value] of Object.entries(own)) {
    if (value !== undefined && isPicked(name)) environment[name] = value;
  }
  return { ...environment, ...UNATTENDED };
}
