/** The environment of commands: what tools need to find each other, and no secret. */

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
  // Else `git status` would try to refresh the index, which is read-only.
  GIT_OPTIONAL_LOCKS: '0',
} as const;

/** For a command under limits: only what is on the list. */
export function limitedEnvironment(own: NodeJS.ProcessEnv): Record<string, string> {
  return pick(own, (name) => PASSED_ON.has(name));
}

/** For a command that a person let have `all`: everything but what is Drawbridge's own. */
export function fullEnvironment(own: NodeJS.ProcessEnv): Record<string, string> {
  return pick(own, (name) => !name.startsWith('DRAWBRIDGE_'));
}

function pick(own: NodeJS.ProcessEnv, isPicked: (name: string) => boolean): Record<string, string> {
  const environment: Record<string, string> = {};
  for (const [name, value] of Object.entries(own)) {
    if (value !== undefined && isPicked(name)) environment[name] = value;
  }
  return { ...environment, ...UNATTENDED };
}
