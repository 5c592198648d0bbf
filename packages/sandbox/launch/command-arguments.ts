/** The arguments for bubblewrap and the shell that each sandboxed command gets of its own. */

import { isBelow } from '../../../machine/byte-path.ts';
import { shellWord } from '../../../machine/shell-word.ts';
import { inOneLine } from '../../../shared/text/plain-sight.ts';
import { hostWords } from '../../../shared/tools/registries.ts';
import type { Permission } from '../../../shared/tools/run-terminal-cmd.ts';
import type { Rights } from '../../workspace/index.ts';
import { SANDBOX_LIMITS } from '../limits.ts';
import {
  FIRST_INPUT,
  reportDescriptor,
  SHELL,
  SHELL_OPTIONS,
  shellDescriptor,
  shellScript,
  startDescriptor,
} from '../terminal/launch.ts';
import type { FolderLink } from '../view/links.ts';
import type { Bubblewrap } from './bubblewrap.ts';
import type { CommandRequest } from './confinement.ts';

/** Which namespaces of its conversation a program is in already. */
export interface JoinedKinds {
  readonly hasNetwork?: boolean;
  readonly hasProcesses?: boolean;
}

export function namespaces(
  permissions: readonly Permission[],
  user: Rights,
  { canDisableUserNamespaces }: Bubblewrap,
  { hasNetwork = false, hasProcesses = false }: JoinedKinds = {},
): string[] {
  return [
    '--unshare-user',
    ...ownUser(user),
    ...(hasProcesses ? [] : ['--unshare-pid']),
    '--unshare-ipc',
    '--unshare-uts',
    '--unshare-cgroup-try',
    ...(hasNetwork || permissions.includes('network') ? [] : ['--unshare-net']),
    ...(canDisableUserNamespaces ? ['--disable-userns', '--assert-userns-disabled'] : []),
    '--hostname',
    'drawbridge',
    '--cap-drop',
    'ALL',
    '--new-session',
    '--die-with-parent',
  ];
}

/** The user inside is the one outside, though a user namespace between them may have another number for it. */
export function ownUser({ uid, gid }: Rights): string[] {
  return ['--uid', String(uid), '--gid', String(gid)];
}

/** For a launch with a PID namespace that has so many inputs and descriptors. */
export function reporting(others: number, { hasProcesses = false }: JoinedKinds = {}): string[] {
  return [
    '--info-fd',
    String(reportDescriptor(others)),
    ...(hasProcesses ? ['--block-fd', String(startDescriptor(others))] : []),
  ];
}

/** The kernel's settings are read-only as well, though only root could change them and no command is root. */
export function devices({ hasProcesses = false }: JoinedKinds = {}): string[] {
  return [
    '--dev',
    '/dev',
    ...ownMemory('/dev/shm', SANDBOX_LIMITS.sharedMemoryBytes),
    '--remount-ro',
    '/dev',
    ...(hasProcesses ? [] : ['--proc', '/proc']),
    ...KERNEL_SETTINGS.flatMap((path) => ['--ro-bind-try', path, path]),
  ];
}

/** Listed in proc(5). */
const KERNEL_SETTINGS = ['/proc/sys', '/proc/sysrq-trigger', '/proc/irq', '/proc/bus'] as const;

/** Gives each command empty folders of its own. The workspace, and what it is linked to, may lie in one of them. */
export function ownFolders(workspace: string, links: readonly FolderLink[]): string[] {
  const folders = ['/tmp', '/var/tmp'];
  const isInside = (path: string) => folders.some((folder) => isBelow(folder, path));
  const outside = links.map(({ to }) => to).filter((to) => !isBelow(workspace, to));
  return [
    ...folders.flatMap((folder) => ownMemory(folder, SANDBOX_LIMITS.tmpBytes)),
    ...(isInside(workspace) ? ['--bind', workspace, workspace] : []),
    ...outside.filter(isInside).flatMap((path) => ['--ro-bind', path, path]),
  ];
}

function ownMemory(path: string, bytes: number): string[] {
  return ['--size', String(bytes), '--perms', '1777', '--tmpfs', path];
}

/**
 * The shell with its limits. The limits are set inside, where the kernel counts only the sandbox's processes; outside
 * it would count all processes of the user. The script closes the launch's inputs and descriptors, which are `others`,
 * and bubblewrap's own. The shell runs `first` before everything else, and takes the program's variables last:
 * they act on the program alone. It takes the command from {@link lineVariable}.
 */
export function limitedShell(
  { isServer = false, reportsShell = false, variables }: CommandRequest,
  first: string,
  others: number,
  { hasProcesses = false }: JoinedKinds = {},
): string[] {
  const { maxProcesses, maxDataKib } = SANDBOX_LIMITS;
  const processes = SHELL.endsWith('/bash') ? '-u' : '-p';
  // Where memory runs out, the kernel ends a command, never the bridge.
  const firstToEnd = 'echo 1000 >/proc/self/oom_score_adj';
  const bounds = `ulimit -c 0; ulimit ${processes} ${maxProcesses}; ulimit -d ${maxDataKib}`;
  const limits = `${bounds}; ${firstToEnd}`;
  const [taken, given] = variables === undefined ? ['', ''] : [TAKE_VARIABLES, GIVE_VARIABLES];
  const last = hasProcesses ? startDescriptor(others) : reportDescriptor(others);
  const closed = `exec${range(FIRST_INPUT + 1, last)
    .map((descriptor) => ` ${descriptor}<&-`)
    .join('')} || exit 126`;
  const where = { hasPidNamespace: true, isShared: hasProcesses };
  const report = reportsShell ? shellDescriptor(others, where) : undefined;
  const start = `${isServer ? '' : 'exec 2>&1; '}${shellScript(report)}`;
  const script = `${TAKE_LINE}${first}{ ${limits}; } 2>/dev/null; ${taken}${closed}; ${given}${start}`;
  return [SHELL, ...SHELL_OPTIONS, '-c', script, SHELL];
}

/**
 * The command in the environment of its shell: `pkill -f` looks through the arguments of every process, and the sandbox's
 * own programs are not what it means.
 */
export function lineVariable(command: string): Record<string, string> {
  return { [LINE]: command };
}

const LINE = 'SANDBOX_LINE';

const TAKE_LINE = `set -- "$${LINE}"; unset ${LINE}; `;

function range(first: number, last: number): number[] {
  return Array.from({ length: last - first + 1 }, (_, index) => first + index);
}

/** Of {@link exportsOf}, behind the system call filter. The descriptor is no file that the shell could open again. */
const TAKE_VARIABLES = `v=; while IFS= read -r l <&${FIRST_INPUT + 1}; do v="$v$l
"; done; `;

/** The shell may run the line itself, so its own two variables go before. */
const GIVE_VARIABLES = 'set -- "$1" "$v"; unset v l; eval "$2"; set -- "$1"; ';

/** Variables as lines of a shell. Throws for a name that a shell has no variable for. */
export function exportsOf(variables: Readonly<Record<string, string>>): Uint8Array {
  const lines = Object.entries(variables).map(([name, value]) => {
    if (!/^[A-Za-z_]\w*$/.test(name) || value.includes('\0'))
      throw new Error(`A program in the sandbox cannot have the variable ${inOneLine(name)}.`);
    return `export ${name}=${shellWord(value)}\n`;
  });
  return Buffer.from(lines.join(''));
}

/** A description for people and the model. */
export function describeLimits(
  permissions: readonly Permission[],
  notes: readonly string[],
  hosts?: readonly string[],
): string {
  return [
    'bubblewrap: writes only to the workspace',
    describeNetwork(permissions, hosts),
    permissions.includes('git_write') ? '.git writable' : '.git read-only',
    ...notes,
  ].join(', ');
}

function describeNetwork(permissions: readonly Permission[], hosts?: readonly string[]): string {
  if (permissions.includes('network')) return 'network open';
  return hosts === undefined ? 'no network' : `network: ${hostWords(hosts)}`;
}
