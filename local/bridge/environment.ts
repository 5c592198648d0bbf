/** Chooses the environment of a bridge: what node, the terminal and commands need, and no accidental secret. */
import { LocalError } from '../../machine/local-error.ts';
import { modelKeyNames } from '../settings.ts';

/** Names more variables, separated by commas, for commands that the owner gives the permission `all`. */
const PASS_ENV = 'DRAWBRIDGE_PASS_ENV';

/**
 * A name that ends in `_` stands for all names that begin with it. None is meant for a password or a token, but for
 * GEMINI_CLI_IDE_AUTH_TOKEN, which opens the editor's companion to the bridge, and which no command gets.
 */
const PASSED_ON = [
  'PATH HOME USER LOGNAME SHELL LANG LANGUAGE LC_ TZ PWD TMPDIR TMP TEMP XDG_ HOSTNAME',
  'TERM TERMINFO COLORTERM NO_COLOR FORCE_COLOR CLICOLOR COLUMNS LINES EDITOR VISUAL PAGER',
  // The keys stay in their agents; these variables say where the agents listen.
  'SSH_AUTH_SOCK SSH_AGENT_PID GPG_TTY GPG_AGENT_INFO GNUPGHOME',
  'DISPLAY WAYLAND_DISPLAY XAUTHORITY DBUS_SESSION_BUS_ADDRESS',
  'http_proxy https_proxy all_proxy no_proxy ftp_proxy',
  'HTTP_PROXY HTTPS_PROXY ALL_PROXY NO_PROXY FTP_PROXY',
  'SSL_CERT_FILE SSL_CERT_DIR NODE_EXTRA_CA_CERTS REQUESTS_CA_BUNDLE CURL_CA_BUNDLE',
  'PIP_CERT GIT_SSL_CAINFO CARGO_HTTP_CAINFO',
  'NODE_ENV NODE_OPTIONS NODE_PATH NVM_DIR NVM_BIN NVM_INC VOLTA_HOME FNM_DIR',
  'FNM_MULTISHELL_PATH PNPM_HOME BUN_INSTALL DENO_DIR DENO_INSTALL COREPACK_HOME',
  'PLAYWRIGHT_BROWSERS_PATH ASDF_DIR ASDF_DATA_DIR MISE_DATA_DIR',
  'VIRTUAL_ENV PYENV_ROOT PYTHONPATH PYTHONHOME PIPX_HOME POETRY_HOME',
  'CONDA_PREFIX CONDA_DEFAULT_ENV CONDA_EXE UV_CACHE_DIR PIP_CACHE_DIR',
  'GOPATH GOROOT GOBIN GOCACHE GOMODCACHE GOFLAGS GOTOOLCHAIN',
  'CARGO_HOME CARGO_TARGET_DIR RUSTUP_HOME RUSTUP_TOOLCHAIN RUSTFLAGS',
  'JAVA_HOME JDK_HOME MAVEN_HOME M2_HOME GRADLE_HOME GRADLE_USER_HOME',
  'SDKMAN_DIR KOTLIN_HOME ANDROID_HOME ANDROID_SDK_ROOT DOTNET_ROOT',
  'RBENV_ROOT RBENV_VERSION GEM_HOME GEM_PATH BUNDLE_PATH RUBYLIB',
  'HOMEBREW_PREFIX HOMEBREW_CELLAR HOMEBREW_REPOSITORY NIX_PATH NIX_PROFILES NIX_SSL_CERT_FILE',
  'CC CXX CFLAGS CXXFLAGS LDFLAGS MAKEFLAGS CMAKE_PREFIX_PATH PKG_CONFIG_PATH LD_LIBRARY_PATH',
  'DYLD_LIBRARY_PATH DOCKER_HOST DOCKER_CONTEXT KUBECONFIG',
  // They name the editor's window whose shell this is, and the owner's choice of another.
  'TERM_PROGRAM TERM_PROGRAM_VERSION GEMINI_CLI_IDE_ QWEN_CODE_IDE_ QWEN_HOME',
  'DRAWBRIDGE_IDE_PORT SSH_CONNECTION REMOTE_CONTAINERS VSCODE_REMOTE_CONTAINERS_SESSION',
  `DRAWBRIDGE_PRESET DRAWBRIDGE_PROGRAMS ${PASS_ENV}`,
].flatMap((line) => line.split(' '));

/**
 * The part of `own` that a bridge gets: the names on the list and those that the owner adds. Never the keys of models:
 * those that `own` names, and `moreKeys`, which config.json names.
 * @throws {LocalError} if the owner adds a model's key.
 */
export function bridgeEnvironment(
  own: NodeJS.ProcessEnv,
  moreKeys: readonly string[] = [],
): Record<string, string> {
  const keys = new Set([...modelKeyNames(own), ...moreKeys]);
  const named = new Set((own[PASS_ENV] ?? '').split(',').map((name) => name.trim()));
  const key = [...named].find((name) => keys.has(name));
  if (key !== undefined) {
    throw new LocalError(
      'refused',
      `${PASS_ENV} names ${key}, a model's key. No command may have that key: remove it from the list.`,
    );
  }
  const entries = Object.entries(own).filter(
    ([name]) => (isPassedOn(name) || named.has(name)) && !keys.has(name),
  );
  return Object.fromEntries(entries.map(([name, value]) => [name, value ?? '']));
}

/** The environment of a process of ours, without variables by which it would load code from a workspace. */
export function ownEnvironment(
  environment: Readonly<Record<string, string>>,
): Record<string, string> {
  const kept = Object.entries(environment).filter(([name]) => !LOADING.has(name));
  return { ...RELEASING, ...Object.fromEntries(kept) };
}

/** glibc's own default, in bytes, which it keeps only if set: else a process holds 30 MB of freed memory. */
const RELEASING = { MALLOC_TRIM_THRESHOLD_: '131072' } as const;

const LOADING: ReadonlySet<string> = new Set([
  'NODE_OPTIONS',
  'NODE_PATH',
  'LD_LIBRARY_PATH',
  'LD_PRELOAD',
  'DYLD_LIBRARY_PATH',
]);

/** Removes all other variables than {@link bridgeEnvironment} from this process: its children then cannot get them. */
export function limitOwnEnvironment(moreKeys: readonly string[] = []): void {
  const kept = bridgeEnvironment(process.env, moreKeys);
  for (const name of Object.keys(process.env)) {
    if (!(name in kept)) Reflect.deleteProperty(process.env, name);
  }
}

function isPassedOn(name: string): boolean {
  return PASSED_ON.some((known) => (known.endsWith('_') ? name.startsWith(known) : name === known));
}
