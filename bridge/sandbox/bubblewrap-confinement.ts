/** The bubblewrap sandbox: the workspace is writable, the rest of the disk read-only, the network closed. */
import { relative } from 'node:path';
import { COMMAND_LIMITS } from '../../shared/limits.ts';
import type { Permission } from '../../shared/tools/run-terminal-cmd.ts';
import { type Launch, shellArgv } from '../terminal/launch.ts';
import type { Bubblewrap } from './bubblewrap.ts';
import {
  type ClosedEntries,
  type ClosedEntry,
  findClosedEntries,
  newlyProtected,
} from './closed-entries.ts';
import type { CommandRequest, Confinement, PreparedCommand, Surroundings } from './confinement.ts';
import { fullEnvironment, limitedEnvironment } from './environment.ts';
import { homeSecrets } from './home-secrets.ts';
import { KnownEntries } from './known-entries.ts';
import {
  close,
  closeLinkedGit,
  hideIfAny,
  isBelow,
  isFolder,
  keepReadOnly,
  keepWritable,
  nameResolution,
  openLinkedGit,
} from './mounts.ts';

/** Whether it works here, only a self-test knows. */
export function bubblewrapConfinement(
  bubblewrap: Bubblewrap,
  surroundings: Surroundings,
): Confinement {
  const known = new KnownEntries(surroundings.workspace);
  return {
    kind: 'bubblewrap',
    detail:
      `bubblewrap ${bubblewrap.version}: commands write only to the workspace, have no network, ` +
      'and reach neither secrets nor the configuration of git, editors and agents.',
    prepare: async (request) =>
      request.permissions.includes('all')
        ? await prepareOpen(request, bubblewrap, surroundings)
        : await prepareConfined(request, { bubblewrap, surroundings, known }),
    confineLook: async (launch) => await confineLook(launch, bubblewrap, surroundings),
  };
}

async function confineLook(
  { file, args, cwd, env }: Launch,
  bubblewrap: Bubblewrap,
  { workspace, closedFolders }: Surroundings,
): Promise<Launch> {
  const confined = [
    ...namespaces([], bubblewrap),
    ...(await disk([])),
    ...keepReadOnly(workspace),
    ...(await allOf(closedFolders.map(hideIfAny))),
    ...['--seccomp', String(FIRST_INPUT), '--chdir', cwd, '--', file, ...args],
  ];
  const inputs = [bubblewrap.seccompProgram];
  return { file: bubblewrap.file, args: confined, cwd: '/', env, inputs, hasPidNamespace: true };
}

/** `all` opens everything but our own state. The PID namespace stays, so that nothing outlives the command. */
async function prepareOpen(
  { command, cwd }: CommandRequest,
  { file }: Bubblewrap,
  { closedFolders, environment }: Surroundings,
): Promise<PreparedCommand> {
  const args = [
    ...['--unshare-pid', '--new-session', '--die-with-parent'],
    ...['--dev-bind', '/', '/', '--proc', '/proc'],
    ...(await allOf(closedFolders.map(hideIfAny))),
    ...['--chdir', cwd, '--', ...shellArgv(command)],
  ];
  const env = fullEnvironment(environment);
  return {
    launch: { file, args, cwd: '/', env, inputs: [], hasPidNamespace: true },
    limits: 'bubblewrap with all permissions: only its processes are kept together',
    findNewlyProtected: async () => [],
  };
}

interface Machine {
  readonly bubblewrap: Bubblewrap;
  readonly surroundings: Surroundings;
  readonly known: KnownEntries;
}

async function prepareConfined(
  { command, cwd, permissions }: CommandRequest,
  { bubblewrap, surroundings, known }: Machine,
): Promise<PreparedCommand> {
  const { workspace } = surroundings;
  const secrets = await homeSecrets(surroundings.home);
  const isAround = (secret: string) => isBelow(secret, workspace);
  const { entries: inTree, isCut } = await findClosedEntries(workspace);
  const found = { entries: await known.ranked({ entries: inTree, isCut }), isCut };
  const args = [
    ...namespaces(permissions, bubblewrap),
    ...(await disk(permissions)),
    ...(await allOf(secrets.filter(isAround).map(hideIfAny))),
    ...keepWritable(workspace),
    ...(await closedPaths(found, permissions, workspace)),
    // Last: a command at work could put a link in the place of a path above, and so lay a secret open again.
    ...(await allOf(secrets.filter((path) => !isAround(path)).map(hideIfAny))),
    ...(await allOf(surroundings.closedFolders.map(hideIfAny))),
    ...['--seccomp', String(FIRST_INPUT), '--chdir', cwd, '--', ...shellArgv(command)],
  ];
  const env = { ...limitedEnvironment(surroundings.environment), TMPDIR: '/tmp' };
  const inputs = [bubblewrap.seccompProgram];
  return {
    launch: { file: bubblewrap.file, args, cwd: '/', env, inputs, hasPidNamespace: true },
    limits: describeLimits(permissions, found),
    findNewlyProtected: async () => {
      const { entries } = await findClosedEntries(workspace);
      return newlyProtected(found.entries, entries).map(({ path }) => relative(workspace, path));
    },
  };
}

/** The descriptor of {@link Launch.inputs}' first entry. */
const FIRST_INPUT = 3;

function namespaces(
  permissions: readonly Permission[],
  { canDisableUserNamespaces }: Bubblewrap,
): string[] {
  return [
    ...[
      '--unshare-user',
      '--unshare-pid',
      '--unshare-ipc',
      '--unshare-uts',
      '--unshare-cgroup-try',
    ],
    ...(permissions.includes('network') ? [] : ['--unshare-net']),
    ...(canDisableUserNamespaces ? ['--disable-userns', '--assert-userns-disabled'] : []),
    ...['--hostname', 'drawbridge', '--cap-drop', 'ALL'],
    ...['--new-session', '--die-with-parent'],
  ];
}

/** Sockets and other people's files lie in the folders that are emptied. */
async function disk(permissions: readonly Permission[]): Promise<string[]> {
  const emptied = ['/tmp', '/run', '/var/tmp', '/mnt', '/media'];
  const existing = await allOf(
    emptied.map(async (path) => ((await isFolder(path)) ? ['--tmpfs', path] : [])),
  );
  return [
    ...['--ro-bind', '/', '/', '--dev', '/dev', '--proc', '/proc', ...existing],
    ...(permissions.includes('network') ? await nameResolution() : []),
  ];
}

/** What a grant for git leaves open. */
const GIT_NAMES: readonly string[] = ['.git', '.gitmodules'];

async function closedPaths(
  { entries }: ClosedEntries,
  permissions: readonly Permission[],
  workspace: string,
): Promise<string[]> {
  const canWriteGit = permissions.includes('git_write');
  const isGit = ({ path }: ClosedEntry) =>
    GIT_NAMES.includes(path.slice(path.lastIndexOf('/') + 1));
  const covered = entries.slice(0, COMMAND_LIMITS.maxMounts);
  const gitFiles = covered.filter(({ path, kind }) => kind === 'file' && path.endsWith('/.git'));
  const closed = covered.filter((entry) => !(canWriteGit && isGit(entry)));
  return [
    ...(await allOf(
      gitFiles.map(({ path }) =>
        canWriteGit ? openLinkedGit(path) : closeLinkedGit(path, workspace),
      ),
    )),
    ...(await allOf(closed.map((entry) => close(entry, workspace)))),
  ];
}

function describeLimits(
  permissions: readonly Permission[],
  { entries, isCut }: ClosedEntries,
): string {
  const uncovered = entries.length > COMMAND_LIMITS.maxMounts;
  return [
    'bubblewrap: writes only to the workspace',
    permissions.includes('network') ? 'network open' : 'no network',
    permissions.includes('git_write') ? '.git writable' : '.git read-only',
    ...(uncovered || isCut ? ['protected paths deep in this large workspace not covered'] : []),
  ].join(', ');
}

async function allOf(parts: readonly Promise<string[]>[]): Promise<string[]> {
  return (await Promise.all(parts)).flat();
}
