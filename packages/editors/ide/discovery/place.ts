/** The real machine as the search for companions sees it, and the addresses where a companion may listen. */
import { execFile } from 'node:child_process';
import { lookup } from 'node:dns/promises';
import { existsSync } from 'node:fs';
import { readFile, realpath } from 'node:fs/promises';
import { homedir, tmpdir } from 'node:os';
import { isAbsolute } from 'node:path';
import { promisify } from 'node:util';
import { ancestorsOf } from './ancestors.ts';
import type { SearchPlace } from './candidate.ts';
import { DISCOVERY_LIMITS } from './limits.ts';

/**
 * This machine and process. `workspace` is the absolute path of the folder that the editor should have open,
 * `environment` that of the person's terminal.
 */
export async function placeHere(
  workspace: string,
  environment: SearchPlace['environment'],
  signal: AbortSignal,
): Promise<SearchPlace> {
  const { platform, pid } = process;
  return {
    workspace,
    environment,
    platform,
    pid,
    home: homedir(),
    temporaryFolders: await temporaryFolders(signal),
    userId: process.getuid?.(),
    isInContainer: existsSync('/.dockerenv') || existsSync('/run/.containerenv'),
  };
}

/** An editor can have another temporary folder than a program in its terminal. */
async function temporaryFolders(signal: AbortSignal): Promise<readonly string[]> {
  const { platform, pid } = process;
  const folders = [
    tmpdir(),
    '/tmp',
    ...(platform === 'darwin' ? [await darwinFolder(signal)] : []),
    ...(platform === 'linux' ? await ancestorsFolders(pid, signal) : []),
  ];
  const absolute = folders.filter((folder) => isAbsolute(folder));
  // On macOS /tmp is a link.
  const real = absolute.map((folder) => realpath(folder).catch(() => folder));
  return [...new Set(await Promise.all(real))];
}

/** The user's own folder, which a shell without TMPDIR does not know. */
async function darwinFolder(signal: AbortSignal): Promise<string> {
  const options = { timeout: DISCOVERY_LIMITS.psMs, signal };
  const asked = promisify(execFile)('/usr/bin/getconf', ['DARWIN_USER_TEMP_DIR'], options);
  const { stdout } = await asked.catch(() => ({ stdout: '' }));
  return stdout.trim();
}

async function ancestorsFolders(pid: number, signal: AbortSignal): Promise<readonly string[]> {
  const ancestors = await ancestorsOf(pid, 'linux', signal);
  return await Promise.all(ancestors.map((ancestor) => temporaryFolderOf(ancestor)));
}

/** Empty where the process has none, or belongs to another user. */
async function temporaryFolderOf(pid: number): Promise<string> {
  const environment = await readFile(`/proc/${pid}/environ`, 'utf8').catch(() => '');
  return /(?:^|\0)TMPDIR=([^\0]*)/.exec(environment)?.[1] ?? '';
}

/**
 * The addresses to try for a companion's port, in this order. Companions accept few values of the `Host` header: send
 * {@link hostHeader}, whatever the address. (`fetch` ignores such a header; `node:http` sends it.) A container reaches
 * its host's loopback only where its runtime forwards `host.docker.internal`, as Docker Desktop does.
 */
export async function hostsFor(
  { environment, isInContainer }: Pick<SearchPlace, 'environment' | 'isInContainer'>,
  signal: AbortSignal,
): Promise<readonly string[]> {
  const isEditorInside = EDITOR_INSIDE.some((name) => environment[name] !== undefined);
  if (!isInContainer || isEditorInside) return [LOOPBACK];
  const host = await addressOf(CONTAINER_HOST, signal);
  return host === undefined ? [LOOPBACK] : [LOOPBACK, host];
}

/** The `Host` header that every companion accepts. */
export function hostHeader(port: number): string {
  return `${LOOPBACK}:${port}`;
}

const LOOPBACK = '127.0.0.1';
const CONTAINER_HOST = 'host.docker.internal';

/** Where one of these is set, the editor's server runs in the container too. */
const EDITOR_INSIDE = ['SSH_CONNECTION', 'VSCODE_REMOTE_CONTAINERS_SESSION', 'REMOTE_CONTAINERS'];

/** Undefined for a name that is unknown, or is not found in time. */
async function addressOf(name: string, signal: AbortSignal): Promise<string | undefined> {
  const ending = AbortSignal.any([signal, AbortSignal.timeout(DISCOVERY_LIMITS.lookupMs)]);
  const found = lookup(name).then(
    ({ address }) => address,
    () => undefined,
  );
  const ended = new Promise<undefined>((resolve) => {
    ending.addEventListener('abort', () => resolve(undefined), { once: true });
  });
  const address = await Promise.race([found, ended]);
  signal.throwIfAborted();
  return address;
}
