/** The environment of commands: the variables that tools need, and no secret. */

import { words } from '../../../machine/words.ts';
import type { Permission } from '../../../shared/tools/run-terminal-cmd.ts';

/** Variables that a confined command gets. Any other may hold a token. */
const PASSED_ON: ReadonlySet<string> = new Set(
  words(`
    PATH HOME USER LOGNAME SHELL LANG LANGUAGE LC_ALL LC_CTYPE TZ NODE_ENV NVM_DIR VOLTA_HOME
    PNPM_HOME VIRTUAL_ENV PYENV_ROOT GOPATH GOROOT JAVA_HOME CARGO_HOME RUSTUP_HOME
  `),
);

/** Variables that name certificate authorities, for networks whose proxies have their own. */
const AUTHORITIES: ReadonlySet<string> = new Set(
  words(`
    SSL_CERT_FILE SSL_CERT_DIR NODE_EXTRA_CA_CERTS REQUESTS_CA_BUNDLE CURL_CA_BUNDLE PIP_CERT
    GIT_SSL_CAINFO CARGO_HTTP_CAINFO NIX_SSL_CERT_FILE
  `),
);

/** A place of the system, which commands can read and not change. */
const OF_THE_SYSTEM = /^\/(?:etc|usr)\/(?!.*\.\.)/;

/** By these, programs know that no person is there: no prompts, no pager, no colours. */
const UNATTENDED = {
  CI: '1',
  NO_COLOR: '1',
  TERM: 'dumb',
  PAGER: 'cat',
  GIT_PAGER: 'cat',
  GIT_TERMINAL_PROMPT: '0',
  // As an editor, `:` leaves every text unchanged, whatever editor a repository configures.
  GIT_EDITOR: ':',
  GIT_SEQUENCE_EDITOR: ':',
  // Without this `git status` would try to refresh the index, which is read-only.
  GIT_OPTIONAL_LOCKS: '0',
} as const;

/** Names of settings of git, and their values. */
type GitSettings = readonly (readonly [name: string, value: string])[];

/**
 * With these settings a git command that only looks runs no program that the repository configures. To git, any folder
 * with `HEAD`, `objects` and `refs` is a repository, and file tools can write such a folder. With these settings git
 * uses it only when a command names it.
 */
const GIT_RUNS_LESS: GitSettings = [
  ['safe.bareRepository', 'explicit'],
  ['core.fsmonitor', 'false'],
];

/** In a sandbox: git knows a masked file as unchanged by its size and whole seconds. See masks.ts. */
export const GIT_KNOWS_MASKS: GitSettings = [
  ['core.checkStat', 'minimal'],
  ['core.trustctime', 'false'],
];

/** Hooks are files that may lie in the workspace. `log.showSignature` would start a program to check signatures. */
const GIT_RUNS_NOTHING: GitSettings = [
  ...GIT_RUNS_LESS,
  ['core.hooksPath', '/dev/null'],
  ['log.showSignature', 'false'],
];

/**
 * For a command under limits: only the listed variables. With `git_write` hooks run: a person has allowed changes to
 * the repository, and a commit or push without its hooks would differ (large files, change ids, checks).
 */
export function limitedEnvironment(
  own: NodeJS.ProcessEnv,
  permissions: readonly Permission[] = [],
  further: GitSettings = [],
): Record<string, string> {
  const settings = permissions.includes('git_write') ? GIT_RUNS_LESS : GIT_RUNS_NOTHING;
  const isPicked = (name: string) =>
    PASSED_ON.has(name) || (AUTHORITIES.has(name) && OF_THE_SYSTEM.test(own[name] ?? ''));
  return { ...pick(own, isPicked), ...gitSettings([...settings, ...further]) };
}

const NOT_FOR_COMMANDS = /^(?:DRAWBRIDGE_|GEMINI_CLI_IDE_|QWEN_CODE_IDE_)/;

/**
 * For a command that a person granted `all`: everything but Drawbridge's own variables, and what leads to the editor's
 * companion. A coding agent that a command starts would otherwise take the companion over from the bridge.
 */
export function fullEnvironment(own: NodeJS.ProcessEnv): Record<string, string> {
  const environment = pick(own, (name) => !NOT_FOR_COMMANDS.test(name));
  return { ...environment, ...gitSettings(GIT_RUNS_LESS, own['GIT_CONFIG_COUNT']) };
}

/**
 * Git settings as environment variables. They override those of any file, and follow the settings that are already
 * there. A count that git would reject starts again at zero.
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
