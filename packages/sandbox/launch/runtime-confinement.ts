/**
 * The sandbox of `@anthropic-ai/sandbox-runtime`, for macOS. Its rules are about names, and hold for files that do not
 * exist yet. It has no package caches, no network of a conversation, and no end for a process that has left its group.
 */

import { isBelow } from '../../../machine/byte-path.ts';
import { ToolFailure } from '../../../machine/failure.ts';
import { Lanes } from '../../../machine/lanes.ts';
import { shellWord } from '../../../machine/shell-word.ts';
import { linkedGit } from '../../workspace/index.ts';
import type { CommandUser } from '../account.ts';
import {
  FIRST_INPUT,
  type Launch,
  SHELL,
  SHELL_OPTIONS,
  shellDescriptor,
  shellScript,
} from '../terminal/launch.ts';
import { readAuthor, UNKNOWN_AUTHOR } from '../view/git-author.ts';
import { namePatterns } from '../view/name-patterns.ts';
import { shownPaths } from '../view/view.ts';
import type { ClosedAbout } from './closed-about.ts';
import { ClosedLook } from './closed-look.ts';
import { exportsOf } from './command-arguments.ts';
import type {
  CommandRequest,
  Confinement,
  LookReach,
  PreparedCommand,
  SandboxSurroundings,
} from './confinement.ts';
import { fullEnvironment, limitedEnvironment } from './environment.ts';
import { failed } from './held-command.ts';
import type { PathRule, SandboxRules, SandboxRuntime } from './runtime.ts';
import { openScratch, type Scratch } from './scratch.ts';
import type { RuntimePlatform } from './seatbelt.ts';

/** What makes the sandboxes. */
export interface RuntimeBase {
  readonly runtime: SandboxRuntime;
  readonly platform: RuntimePlatform;
  readonly account: CommandUser;
}

/** As {@link bubblewrapConfinement}. */
export async function runtimeConfinement(
  base: RuntimeBase,
  surroundings: SandboxSurroundings,
): Promise<
  | { readonly ok: true; readonly confinement: Confinement }
  | { readonly ok: false; readonly reason: string }
> {
  const { workspace, home, environment, readable = [], links = [] } = surroundings;
  const { closedFolders, standsFor = workspace } = surroundings;
  const { account } = base;
  const searchPath = environment['PATH'] ?? '';
  const options = { workspace, account, home, searchPath, readable, closedFolders };
  const [opened, tools, gitFolders] = await Promise.all([
    ClosedLook.open(workspace, standsFor, readable),
    shownPaths(options),
    linkedGit(workspace),
  ]);
  if (!opened.ok) return opened;
  // A rule cannot show a folder at another place.
  const linked = links.filter(({ from, to }) => from === to).map(({ to }) => to);
  const shown = [...tools, ...gitFolders, ...linked];
  const scratch = openScratch(account);
  const machine = { ...base, surroundings, look: opened.look, shown, gitFolders, scratch };
  return { ok: true, confinement: confinementOf(machine) };
}

interface RuntimeMachine extends RuntimeBase {
  readonly surroundings: SandboxSurroundings;
  readonly look: ClosedLook;
  /** Outside of the workspace. */
  readonly shown: readonly string[];
  /** Those of a workspace that is a linked worktree. */
  readonly gitFolders: readonly string[];
  readonly scratch: Scratch;
}

function confinementOf(machine: RuntimeMachine): Confinement {
  const { runtime, surroundings, scratch } = machine;
  const lanes = new Lanes();
  let isDisposed = false;
  const argvs = new Map<string, Promise<readonly string[]>>();
  /** A sandbox is the same for all commands that may do the same. */
  const argvFor = (rules: SandboxRules) => {
    const key = JSON.stringify(rules);
    const argv = argvs.get(key) ?? makeArgv(rules, machine);
    if (argvs.size > MAX_KEPT) argvs.clear();
    argvs.set(key, argv);
    argv.catch(() => argvs.delete(key));
    return argv;
  };
  return {
    kind: 'sandbox-runtime',
    detail:
      `sandbox-runtime ${runtime.version}: commands write only to the workspace, have no network, ` +
      'and reach neither secrets, the home folder nor the configuration of git, editors and agents. ' +
      'A process that leaves its group outlives its command, and nothing bounds processes and memory. ' +
      "Drawbridge's own tests have not run it on macOS.",
    start: async (request, start) => {
      // As in bubblewrap-confinement.ts: the lane must not wait for the command to end.
      const { started } = await lanes.run(['starting'], async () => {
        if (isDisposed) throw failed(new Error('the bridge is ending'));
        const command = await prepare(request, machine, argvFor);
        return { started: start(command) };
      });
      return await started;
    },
    confineLook: async (launch, reach) => {
      const argv = await argvFor(lookRules(machine, reach));
      const words = [launch.file, ...launch.args].map(shellWord).join(' ');
      return { ...launchOf(argv, machine, `exec ${words}`), cwd: launch.cwd, env: launch.env };
    },
    elsewhere: async (folder) => {
      const there = { ...surroundings, ...folder, standsFor: surroundings.workspace };
      const made = await runtimeConfinement(machine, there);
      if (made.ok) return made.confinement;
      throw new ToolFailure('SANDBOX_FAILED', made.reason);
    },
    [Symbol.dispose]: () => {
      isDisposed = true;
      scratch[Symbol.dispose]();
    },
  };
}

/** Sandboxes that are kept: those of a few permissions, until what is closed changes. */
const MAX_KEPT = 16;

async function makeArgv(
  rules: SandboxRules,
  { runtime, platform, surroundings: { workspace } }: RuntimeMachine,
): Promise<readonly string[]> {
  try {
    const line = await runtime.wrap(rules, workspace);
    return platform.argvOf(line, rules.network === undefined ? 'open' : 'closed');
  } catch (error) {
    throw failed(error);
  }
}

async function prepare(
  request: CommandRequest,
  machine: RuntimeMachine,
  argvFor: (rules: SandboxRules) => Promise<readonly string[]>,
): Promise<PreparedCommand> {
  const { permissions, hosts } = request;
  const { platform, account, surroundings, scratch, look } = machine;
  const { environment, closedFolders, workspace } = surroundings;
  if (permissions.includes('all')) {
    const argv = platform.openArgv(closedFolders, workspace);
    const launch = commandLaunch(argv, machine, request, fullEnvironment(environment));
    return {
      launch,
      limits: "sandbox-runtime with all permissions: only Drawbridge's own state is closed",
    };
  }
  if (hosts !== undefined) throw new ToolFailure('SANDBOX_FAILED', NO_HOSTS);
  const isGit = permissions.includes('git_write');
  const author = isGit ? ((await readAuthor(workspace, account)) ?? UNKNOWN_AUTHOR) : undefined;
  const now = await look.now(isGit ? 'git' : 'plain');
  const argv = await argvFor(commandRules(machine, request, now));
  const named = Object.entries(author ?? {}).map(([key, value]) => [`user.${key}`, value] as const);
  const limited = limitedEnvironment(environment, permissions, named);
  const env = { ...limited, ...surroundings.variables, TMPDIR: scratch.path };
  const launch = commandLaunch(argv, machine, request, env);
  return { launch, limits: describeLimits(request, now), closed: now.closed };
}

const NO_HOSTS =
  'This sandbox cannot open the network for single hosts: ask for the whole network with the host "*".';

function commandLaunch(
  argv: readonly string[],
  machine: RuntimeMachine,
  { command, cwd, isServer = false, reportsShell = false, variables = {} }: CommandRequest,
  env: Readonly<Record<string, string>>,
): Launch {
  const report = reportsShell ? shellDescriptor(1, { hasPidNamespace: false }) : undefined;
  const script = `${isServer ? '' : 'exec 2>&1; '}${shellScript(report)}`;
  const words = [SHELL, ...SHELL_OPTIONS, '-c', script, SHELL, command].map(shellWord).join(' ');
  const given = Buffer.from(exportsOf(variables)).toString();
  const launch = launchOf(argv, machine, `${given}exec ${words}`);
  const shellBegins = reportsShell ? { ...env, ...variables } : undefined;
  return { ...launch, cwd, env, shellBegins };
}

/** Its folder and environment are still to be set. The script, with its variables and words, stands in no argument. */
function launchOf(
  argv: readonly string[],
  { account }: RuntimeMachine,
  script: string,
): Omit<Launch, 'cwd' | 'env'> {
  const [file = '', ...args] = [...account.prefix, ...argv];
  const inputs = [Buffer.from(`exec ${FIRST_INPUT}<&-\n${script}\n`)];
  return { file, args, inputs, hasPidNamespace: false };
}

function commandRules(
  machine: RuntimeMachine,
  { permissions, isReadOnly = false }: CommandRequest,
  now: { readonly protected: readonly string[]; readonly secret: readonly string[] },
): SandboxRules {
  const { surroundings, gitFolders, scratch } = machine;
  const { workspace, closedFolders, readable = [] } = surroundings;
  const opened = readable.filter((path) => isBelow(workspace, path));
  const changeable = permissions.includes('git_write') ? gitFolders : undefined;
  const names = namePatterns(workspace, changeable);
  const writable = [scratch.path, ...(isReadOnly ? [] : [workspace, ...(changeable ?? [])])];
  const inside = closedFolders.filter((folder) => isBelow(workspace, folder));
  const { network, filesystem } = reaching(machine, writable);
  return {
    ...(permissions.includes('network') ? {} : { network }),
    filesystem: {
      ...filesystem,
      denyRead: [...filesystem.denyRead, ...names.secret, ...now.secret.map(literal)],
      allowRead: [
        ...filesystem.allowRead,
        ...[scratch.path, ...opened].map(literal),
        ...names.examples,
      ],
      denyWrite: [
        ...filesystem.denyWrite,
        ...names.protected,
        // Not by name: packages bring certificates and keys for their tests.
        ...[...inside, ...now.protected, ...now.secret].map(literal),
      ],
    },
  };
}

/** It can write to what it is given alone. */
function lookRules(
  machine: RuntimeMachine,
  { readable, writable }: LookReach = { readable: [], writable: [] },
): SandboxRules {
  const { network, filesystem } = reaching(machine, writable);
  const allowRead = [...filesystem.allowRead, ...[...readable, ...writable].map(literal)];
  return { network, filesystem: { ...filesystem, allowRead } };
}

function reaching(
  { platform, account, shown, surroundings }: RuntimeMachine,
  writable: readonly string[],
): Required<SandboxRules> {
  const { home, closedFolders, workspace, standsFor } = surroundings;
  const homes = [...new Set([home, account.home])];
  const others = standsFor === undefined ? [] : [standsFor];
  const closed = [...homes, ...platform.closed(home, workspace), ...closedFolders, ...others];
  return {
    network: { allowedDomains: [], deniedDomains: [] },
    filesystem: {
      denyRead: [...new Set(closed)].map(literal),
      allowRead: [workspace, ...shown].map(literal),
      allowWrite: writable.map(literal),
      denyWrite: SHARED_FOLDERS.map(literal),
    },
  };
}

/** The runtime lets every command write there. */
const SHARED_FOLDERS = ['/tmp/claude', '/private/tmp/claude'] as const;

function literal(path: string): PathRule {
  return { path, literal: true };
}

function describeLimits({ permissions }: CommandRequest, { notes }: ClosedAbout): string {
  return [
    'sandbox-runtime: writes only to the workspace',
    permissions.includes('network') ? 'network open' : 'no network',
    permissions.includes('git_write')
      ? '.git writable but for its settings and hooks'
      : '.git read-only',
    'a process that leaves its group goes on',
    ...notes,
  ].join(', ');
}
