/** The bubblewrap sandbox: the workspace is writable, the rest of the disk read-only, the network closed. */
import { relative } from 'node:path';
import { COMMAND_LIMITS } from '../../shared/limits.ts';
import type { Permission } from '../../shared/tools/run-terminal-cmd.ts';
import { shellArgv } from '../terminal/launch.ts';
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
import {
  close,
  closeLinkedGit,
  hideIfAny,
  isBelow,
  isFolder,
  keepWritable,
  nameResolution,
  openLinkedGit,
} from './mounts.ts';

/** Whether it works here, only a self-test knows. */
export function bubblewrapConfinement(
  bubblewrap: Bubblewrap,
  surroundings: Surroundings,
): Confinement {
  return {
    kind: 'bubblewrap',
    detail:
      `bubblewrap ${bubblewrap.version}: commands write only to the workspace, have no network, ` +
      'and reach neither secrets nor the configuration of git, editors and agents.',
    prepare: async (request) =>
      request.permissions.includes('all')
        ? await prepareOpen(request, bubblewrap, surroundings)
        : await prepareConfined(request, bubblewrap, surroundings),
  };
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

async function prepareConfined(
  { command, cwd, permissions }: CommandRequest,
  bubblewrap: Bubblewrap,
  surroundings: Surroundings,
): Promise<PreparedCommand> {
  const { workspace } = surroundings;
  const found = await findClosedEntries(workspace);
  const args = [
    ...namespaces(permissions, bubblewrap),
    ...(await disk(permissions)),
    ...(await workspaceAmongSecrets(surroundings)),
    ...(await closedPaths(found, permissions, workspace)),
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

/** Secrets inside the workspace must be hidden after it was laid over the disk, those around it before. */
async function workspaceAmongSecrets({ workspace, home }: Surroundings): Promise<string[]> {
  const secrets = await homeSecrets(home);
  const inside = secrets.filter((path) => isBelow(workspace, path));
  const around = secrets.filter((path) => !isBelow(workspace, path));
  return [
    ...(await allOf(around.map(hideIfAny))),
    ...keepWritable(workspace),
    ...(await allOf(inside.map(hideIfAny))),
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
  const gitFiles = entries.filter(({ path, kind }) => kind === 'file' && path.endsWith('/.git'));
  const closed = mostImportant(entries).filter((entry) => !(canWriteGit && isGit(entry)));
  return [
    ...(await allOf(
      gitFiles.map(({ path }) =>
        canWriteGit ? openLinkedGit(path) : closeLinkedGit(path, workspace),
      ),
    )),
    ...(await allOf(closed.map((entry) => close(entry, workspace)))),
  ];
}

/** As many as one sandbox can have: what configures programs comes before secrets, near before far. */
function mostImportant(entries: readonly ClosedEntry[]): readonly ClosedEntry[] {
  const isProtected = ({ closure }: ClosedEntry) => closure === 'protected';
  const isSecret = ({ closure }: ClosedEntry) => closure === 'secret';
  const ordered = [...entries.filter(isProtected), ...entries.filter(isSecret)];
  return ordered.slice(0, COMMAND_LIMITS.maxMounts);
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
