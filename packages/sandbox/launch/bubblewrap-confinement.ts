/**
 * The bubblewrap sandbox: the workspace is writable, the system readable, the rest of the disk and the network closed.
 */

import { fromText, toBytes } from '../../../machine/byte-path.ts';
import { ToolFailure } from '../../../machine/failure.ts';
import { Lanes } from '../../../machine/lanes.ts';
import { GIB } from '../../../shared/units.ts';
import { linkedGit } from '../../workspace/index.ts';
import type { CommandUser } from '../account.ts';
import { FIRST_INPUT, type Launch, shellArgv, shellDescriptor } from '../terminal/launch.ts';
import { readAuthor, UNKNOWN_AUTHOR } from '../view/git-author.ts';
import { Links } from '../view/links.ts';
import { hideFolder, SEAL, systemView } from '../view/view.ts';
import { Bases } from './bases.ts';
import type { Bubblewrap } from './bubblewrap.ts';
import { cacheCover, cacheMount, cacheVariables, prepareCaches } from './caches.ts';
import type { BaseKind, ClosedAbout } from './closed-about.ts';
import {
  describeLimits,
  devices,
  exportsOf,
  type JoinedKinds,
  limitedShell,
  lineVariable,
  namespaces,
  ownFolders,
  reporting,
} from './command-arguments.ts';
import type {
  CommandRequest,
  Confinement,
  LookReach,
  OtherFolder,
  PreparedCommand,
  SandboxSurroundings,
} from './confinement.ts';
import { fullEnvironment, GIT_KNOWS_MASKS, limitedEnvironment } from './environment.ts';
import { failed, HOLD } from './held-command.ts';
import type { MemoryGroup } from './memory-group.ts';
import { type JoinedNamespaces, SharedNamespaces } from './shared-namespaces.ts';

/**
 * Only a self-test shows whether the confinement works on this machine. `reason` is a sentence on why there is none.
 * All commands run in `memory`; the caller still owns it.
 */
export async function bubblewrapConfinement(
  bubblewrap: Bubblewrap,
  account: CommandUser,
  surroundings: SandboxSurroundings,
  memory?: MemoryGroup,
): Promise<
  | { readonly ok: true; readonly confinement: Confinement }
  | { readonly ok: false; readonly reason: string }
> {
  const { workspace, closedFolders, readable = [], links = [] } = surroundings;
  const shown = new Links(links, account, surroundings.standsFor ?? workspace);
  const { cacheFolder } = surroundings;
  // A worktree shares them with the workspace, whose commands may run.
  const mayEmpty = surroundings.standsFor === undefined;
  // Every start of a bridge waits for these. Each looks at something else, and most start a program.
  const viewing = systemView({
    workspace,
    account,
    home: surroundings.home,
    searchPath: surroundings.environment['PATH'] ?? '',
    readable,
    closedFolders,
  });
  const opening = SharedNamespaces.open(account, bubblewrap, viewing);
  const looks = Promise.all([
    viewing,
    linkedGit(workspace),
    problemOf(shown),
    cacheFolder && prepareCaches(cacheFolder, account, { mayEmpty }),
  ]);
  const [shared] = await Promise.all([opening, looks.catch(() => {})]);
  const [view, linked, problem, caches] = await looks.catch((error: unknown) => {
    shared?.[Symbol.dispose]();
    throw error;
  });
  if (problem !== undefined) {
    shared?.[Symbol.dispose]();
    return { ok: false, reason: problem };
  }
  const opened = await Bases.open({
    workspace,
    account,
    file: bubblewrap.file,
    entry: shared?.entry,
    view: [...view, ...bind('--ro-bind', linked), ...cacheMount(caches).map(fromText)],
    links: shown,
    maskFolder: surroundings.maskFolder,
    readable,
    standsFor: surroundings.standsFor,
    gitView: bind('--bind', linked),
    // A mistake in the person's settings of git keeps no command from its start.
    readAuthor: async () => (await readAuthor(workspace, account)) ?? UNKNOWN_AUTHOR,
  });
  if (!opened.ok) {
    shared?.[Symbol.dispose]();
    return opened;
  }
  const { bases } = opened;
  const machine = { bubblewrap, account, surroundings, bases, shared, view, memory, caches };
  return { ok: true, confinement: confinementOf(machine) };
}

/** Why the links cannot be shown. The look is remembered, so that later ones, for which commands wait, are short. */
async function problemOf(links: Links): Promise<string | undefined> {
  return await links.mounts().then(
    () => undefined,
    (error: unknown) => `${error instanceof Error ? error.message : error}: do not link it.`,
  );
}

interface SandboxMachine {
  readonly bubblewrap: Bubblewrap;
  readonly account: CommandUser;
  readonly surroundings: SandboxSurroundings;
  readonly bases: Bases;
  readonly shared: SharedNamespaces | undefined;
  readonly view: readonly string[];
  readonly memory: MemoryGroup | undefined;
  readonly caches: string | undefined;
}

function confinementOf(machine: SandboxMachine): Confinement {
  const { bubblewrap, bases, shared } = machine;
  const lanes = new Lanes();
  return {
    kind: 'bubblewrap',
    detail:
      `bubblewrap ${bubblewrap.version}: commands write only to the workspace, have no network, ` +
      'and reach neither secrets, the home folder nor the configuration of git, editors and agents.',
    start: async (request, start) => {
      // `started` is wrapped in an object, because the lane must not wait for the command to end.
      const { started } = await lanes.run([STARTING], async () => {
        const startBound = (command: PreparedCommand) => ({
          started: start(bounded(command, machine)),
        });
        if (request.permissions.includes('all')) return startBound(prepareOpen(request, machine));
        const isEntered = bubblewrap.nsenter !== undefined;
        const begin = isEntered ? startInBase : startHeld;
        return await begin(request, machine, startBound);
      });
      return await started;
    },
    ...(shared && {
      openDoor: (conversationId: string) => shared.door(conversationId).catch(unentered),
      forget: (conversationId: string) => shared.forget(conversationId),
    }),
    confineLook: async (launch, reach) => confineLook(launch, machine, reach),
    elsewhere: (folder) => confineElsewhere(folder, machine),
    nameless: () => bases.nameless,
    [Symbol.dispose]: () => {
      bases[Symbol.dispose]();
      shared?.[Symbol.dispose]();
    },
  };
}

function unentered(cause: unknown): never {
  throw failed(cause);
}

/** Without a self-test: the workspace's has shown that these arguments work on this machine. */
async function confineElsewhere(
  folder: OtherFolder,
  machine: SandboxMachine,
): Promise<Confinement> {
  const { bubblewrap, account, surroundings, memory } = machine;
  const there = { ...surroundings, ...folder, standsFor: surroundings.workspace };
  const made = await bubblewrapConfinement(bubblewrap, account, there, memory);
  if (made.ok) return made.confinement;
  throw new ToolFailure('SANDBOX_FAILED', made.reason);
}

/** Every command is born in the bridge's memory group: all commands together take no more memory than the group has. */
function bounded(command: PreparedCommand, { memory }: SandboxMachine): PreparedCommand {
  if (memory === undefined) return command;
  const gib = (memory.bytes / GIB).toFixed(1);
  return {
    ...command,
    limits: `${command.limits}, ${gib} GiB of memory for all commands together`,
  };
}

/** The lane of starts: no command starts while a base is made. */
const STARTING = 'starting';

function bind(option: '--bind' | '--ro-bind', folders: readonly string[]): string[] {
  return folders.flatMap((folder) => [option, folder, folder]).map(fromText);
}

/** For a program of ours that only reads. It can write nothing, and sees nothing of the home folder. */
function confineLook(
  { file, args, cwd, env }: Launch,
  { bubblewrap, account, surroundings: { workspace }, view }: SandboxMachine,
  { readable, writable }: LookReach = { readable: [], writable: [] },
): Launch {
  const confined = [
    ...namespaces([], account, bubblewrap),
    ...reporting(1),
    ...view.map((arg) => Buffer.from(arg, 'latin1').toString()),
    ...[workspace, ...readable].flatMap((path) => ['--ro-bind', path, path]),
    ...writable.flatMap((path) => ['--bind', path, path]),
    ...devices(),
    ...SEAL,
    '--seccomp',
    String(FIRST_INPUT),
    '--chdir',
    cwd,
    '--',
    file,
    ...args,
  ];
  const [program = '', ...rest] = [...account.prefix, bubblewrap.file, ...confined];
  const inputs = [bubblewrap.seccompProgram];
  return { file: program, args: rest, cwd: '/', env, inputs, hasPidNamespace: true };
}

/** `all` opens everything but our own state. The PID namespace stays, so that no process outlives the command. */
function prepareOpen(
  { command, cwd, reportsShell = false }: CommandRequest,
  { bubblewrap: { file }, surroundings: { closedFolders, environment, workspace } }: SandboxMachine,
): PreparedCommand {
  const own = fullEnvironment(environment);
  // Variables of the person's shell may name code in the workspace: bubblewrap itself starts without them.
  const variables = Object.entries(own).flatMap(([name, value]) => ['--setenv', name, value]);
  const report = reportsShell ? shellDescriptor(1, { hasPidNamespace: true }) : undefined;
  const args = [
    '--unshare-pid',
    '--new-session',
    '--die-with-parent',
    ...reporting(1),
    '--args',
    String(FIRST_INPUT),
    '--dev-bind',
    '/',
    '/',
    '--proc',
    '/proc',
    ...closedFolders.flatMap((path) => hideFolder(path, { around: workspace })),
    '--bind',
    workspace,
    workspace,
    '--chdir',
    cwd,
    '--',
    ...shellArgv(command, report),
  ];
  const inputs = [Buffer.from(variables.map((arg) => `${arg}\0`).join(''))];
  const shellBegins = reportsShell ? own : undefined;
  return {
    launch: { file, args, cwd: '/', env: {}, inputs, hasPidNamespace: true, shellBegins },
    limits: 'bubblewrap with all permissions: only its processes are kept together',
  };
}

type StartCommand<Result> = (command: PreparedCommand) => Result;

/** Starts the command in the kernel's copy of a base. */
async function startInBase<Result>(
  request: CommandRequest,
  machine: SandboxMachine,
  start: StartCommand<Result>,
): Promise<Result> {
  const { bubblewrap, account, surroundings, bases } = machine;
  const joined = await joinedBy(request, machine);
  // The last look before the start: nothing is awaited in between.
  const { base, ...about } = await bases.current(kindOf(request));
  const { network, processes, openDialer } = joined;
  const kinds = { hasNetwork: network !== undefined, hasProcesses: processes !== undefined };
  const [ownUser, mounts] = base.namespaces;
  const user = machine.shared?.entry.user ?? ownUser;
  const descriptors = [user, mounts, network, processes?.descriptor].filter(
    (one) => one !== undefined,
  );
  const made = launchOf(machine, request);
  const others = made.inputs.length + 1 + descriptors.length;
  const options = [
    ...namespaces(request.permissions, account, bubblewrap, kinds),
    ...reporting(others, kinds),
    '--bind',
    '/',
    '/',
    ...devices(kinds),
    ...ownFolders(surroundings.workspace, bases.shownLinks),
    ...withheld(request, machine),
    ...commandOptions(request),
  ];
  // Commands of the conversation see the arguments of this bubblewrap.
  const inputs = [...made.inputs, Buffer.from(options.map((option) => `${option}\0`).join(''))];
  const first = FIRST_INPUT + inputs.length;
  const [file = '', ...args] = [
    ...account.prefix,
    ...entering(bubblewrap, first, kinds),
    bubblewrap.file,
    '--args',
    String(first - 1),
    '--',
    ...limitedShell(request, '', others, kinds),
  ];
  const launch = { ...made, file, args, inputs, descriptors, shared: processes };
  return start({
    ...prepared(launch, request, about),
    openDialer: openDialer && (() => openDialer().catch(notDialled)),
  });
}

/** What the command joins of its conversation's. Throws a ToolFailure when it cannot be made. */
async function joinedBy(
  { conversationId, permissions }: CommandRequest,
  { shared }: SandboxMachine,
): Promise<Partial<JoinedNamespaces>> {
  // By its processes another command would see the machine's network, in their `/proc/PID/net`.
  if (conversationId === undefined || permissions.includes('network')) return {};
  const joining = shared?.of(conversationId).catch((cause: unknown) => {
    throw failed(cause);
  });
  return (await joining) ?? {};
}

function notDialled(cause: unknown): never {
  const message = 'The network of this process cannot be entered any more.';
  throw new ToolFailure('PORT_REFUSED', message, { cause });
}

/** Starts the command with mounts of its own: see {@link Bases.startHeld}. */
async function startHeld<Result>(
  request: CommandRequest,
  machine: SandboxMachine,
  start: StartCommand<Result>,
): Promise<Result> {
  const { bubblewrap, account, surroundings, bases } = machine;
  return await bases.startHeld(kindOf(request), (mounts, about) => {
    const folders = ownFolders(surroundings.workspace, bases.shownLinks);
    const own = [...devices(), ...folders, ...withheld(request, machine), ...SEAL].map(fromText);
    const bytes = [...mounts, ...own].map((arg) => toBytes(`${arg}\0`));
    const made = launchOf(machine, request);
    const { length } = made.inputs;
    const args = [
      ...namespaces(request.permissions, account, bubblewrap),
      ...reporting(length + 1),
      '--args',
      String(FIRST_INPUT + length),
      ...commandOptions(request),
      '--',
      ...limitedShell(request, HOLD, length + 1),
    ];
    const [file = '', ...rest] = [...account.prefix, bubblewrap.file, ...args];
    const inputs = [...made.inputs, Buffer.concat(bytes)];
    const launch = { ...made, file, args: rest, inputs };
    return start(prepared(launch, request, about));
  });
}

/** Every mount below the workspace that a base makes is read-only already, so the one of the workspace is enough. */
function withheld(
  { isReadOnly = false, hasCaches = false }: CommandRequest,
  { surroundings: { workspace }, caches }: SandboxMachine,
): string[] {
  return [
    ...(isReadOnly ? ['--remount-ro', workspace] : []),
    ...(hasCaches ? [] : cacheCover(caches)),
  ];
}

function kindOf({ permissions }: CommandRequest): BaseKind {
  return permissions.includes('git_write') ? 'git' : 'plain';
}

function commandOptions({ cwd }: CommandRequest): string[] {
  return ['--seccomp', String(FIRST_INPUT), '--chdir', cwd];
}

function launchOf(
  { bubblewrap, account, surroundings, caches }: SandboxMachine,
  request: CommandRequest,
): Omit<Launch, 'file' | 'args'> {
  const { permissions, hosts, variables, reportsShell = false, hasCaches = false } = request;
  const limited = limitedEnvironment(surroundings.environment, permissions, GIT_KNOWS_MASKS);
  const own = { ...identityOf(account), TMPDIR: '/tmp' };
  const mayDownload = hosts !== undefined || permissions.includes('network');
  const cached = hasCaches ? cacheVariables(caches, { mayDownload }) : {};
  const env = { ...limited, ...cached, ...surroundings.variables, ...own };
  const inputs = [
    bubblewrap.seccompProgram,
    ...(variables === undefined ? [] : [exportsOf(variables)]),
  ];
  const shellBegins = reportsShell ? { ...env, ...variables } : undefined;
  const given = { ...env, ...lineVariable(request.command) };
  return { cwd: '/', env: given, inputs, hasPidNamespace: true, shellBegins };
}

function prepared(
  launch: Launch,
  { permissions, hosts }: CommandRequest,
  { notes, closed }: ClosedAbout,
): PreparedCommand {
  return { launch, limits: describeLimits(permissions, notes, hosts), closed };
}

/**
 * The programs that enter the namespaces of the descriptors from `first` on. `unshare` shows the conversation's processes
 * in the `/proc` of the command alone, and takes what it has started with it.
 */
function entering(
  { nsenter = 'nsenter', unshare = 'unshare' }: Bubblewrap,
  first: number,
  { hasNetwork = false, hasProcesses = false }: JoinedKinds,
): string[] {
  const names = ['user', 'mount', ...(hasNetwork ? ['net'] : []), ...(hasProcesses ? ['pid'] : [])];
  const entered = names.map((name, index) => `--${name}=/proc/self/fd/${first + index}`);
  return [
    nsenter,
    ...entered,
    '--preserve-credentials',
    ...(hasProcesses ? ['--no-fork', '--', unshare, '--fork', '--kill-child', '--mount-proc'] : []),
    '--',
  ];
}

/** Where the command runs as another user than the bridge, it gets that user's home folder and name. */
function identityOf({ name, home, prefix }: CommandUser): Record<string, string> {
  return prefix.length === 0 ? {} : { HOME: home, USER: name, LOGNAME: name };
}
