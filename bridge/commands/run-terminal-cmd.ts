/** Runs run_terminal_cmd: runs a shell command under the machine's confinement, to its end or in the background. */
import { stat } from 'node:fs/promises';
import { ToolFailure } from '../../machine/failure.ts';
import {
  type ArgumentsOf,
  type BridgeTool,
  type Proposed,
  parseArguments,
  type ToolContext,
} from '../../packages/host/index.ts';
import {
  type BackgroundOutcome,
  type BackgroundProcesses,
  BoundedOutput,
  type CommandRequest,
  type Confinement,
  type Egress,
  type GuardedCommand,
  type KnownProcess,
  lineIn,
  type Pass,
  type PreparedCommand,
  proxyVariables,
  runCommand,
  type ShellSession,
  ShellSessions,
  TERMINAL_LIMITS,
  type WorkspaceGuard,
} from '../../packages/sandbox/index.ts';
import type { ResolvedPath, Workspace } from '../../packages/workspace/index.ts';
import { COMMAND_LIMITS } from '../../shared/limits.ts';
import { WHOLE_NETWORK } from '../../shared/text/hosts.ts';
import { nameInLine } from '../../shared/text/plain-sight.ts';
import {
  hostsWanted,
  permissionsWanted,
  shownPermissions,
} from '../../shared/tools/network-permission.ts';
import { runTerminalCmd } from '../../shared/tools/run-terminal-cmd.ts';
import type { Proposal } from '../../shared/wire/approvals.ts';
import type { AttentionItem } from '../../shared/wire/attention.ts';
import type { ToolResult } from '../../shared/wire/tunnel.ts';
import { toCommandResult } from './command-result.ts';

type CommandCall = ArgumentsOf<typeof runTerminalCmd>;

/** The machine's parts that the commands of one bridge use. */
export interface CommandMachine {
  readonly confinement: Confinement;
  readonly background: BackgroundProcesses;
  /**
   * Watches what sandboxed commands leave behind. Commands outside the sandbox are not watched: a person allowed them.
   */
  readonly guard?: WorkspaceGuard | undefined;
  /** Opens hosts to commands. Without it a command has the whole network, or none; the judge must know which. */
  readonly egress?: Egress | undefined;
}

/**
 * The tool of one bridge. The permissions in the arguments count as granted, because the policy has judged them. A
 * command that ends by itself is a success with any exit code, because the model must read its output. A command that
 * was stopped (`TIMEOUT`, `CANCELLED`) or could not be started (`NOT_STARTED`) is an error. The metadata is always that
 * of a terminal command.
 */
export function createRunTerminalCmd(machine: CommandMachine): BridgeTool {
  const sessions = new ShellSessions();
  return {
    definition: runTerminalCmd,
    read: (given, conversationId) => {
      const args = parseArguments(runTerminalCmd, given);
      const session = sessions.of(conversationId);
      const line = lineIn(session, args.command);
      const work = { ...machine, args, line, session, sessions };
      return {
        args,
        subjects: [line],
        paths: [args.working_directory ?? session.folder ?? '.'],
        propose: (context) => propose(work, context),
      };
    },
  };
}

/** One call with the session that it began with. What is judged, shown and run is the same line. */
interface CommandWork extends CommandMachine {
  readonly args: CommandCall;
  readonly session: ShellSession;
  readonly line: string;
  readonly sessions: ShellSessions;
}

async function propose(
  work: CommandWork,
  { places: [place], workspace }: ToolContext,
): Promise<Proposed> {
  await assertFolder(place);
  assertNoNul(work.args);
  return {
    proposal: toProposal(work, workspace.nameOf(place.path)),
    apply: (context) => carryOut(work, context),
  };
}

function toProposal(work: CommandWork, folder: string): Proposal {
  const { args, line, confinement, egress } = work;
  const { is_background: background = false } = args;
  const hosts = hostsWanted(args, egress !== undefined);
  return {
    kind: 'command',
    tool: runTerminalCmd.name,
    command: line,
    folder,
    permissions: shownPermissions(permissionsWanted(args), hosts),
    background,
    timeLimitMs: background ? null : timeoutOf(args),
    confinement: isHeld(work) ? confinement.kind : 'none',
  };
}

function isHeld({ args: { permissions = [] }, confinement }: CommandWork): boolean {
  return confinement.kind !== 'none' && !permissions.includes('all');
}

function timeoutOf({ timeout = COMMAND_LIMITS.defaultTimeoutMs }: CommandCall): number {
  return timeout;
}

async function carryOut(work: CommandWork, context: ToolContext): Promise<ToolResult> {
  const { args, line, confinement, guard } = work;
  const { command } = args;
  const { conversationId, signal } = context;
  const [place] = context.places;
  const guarded = isHeld(work) ? await guard?.begins(command) : undefined;
  const reportsShell = args.is_background !== true;
  const { path: cwd } = place;
  const asked = { command: line, cwd, conversationId, reportsShell, hasCaches: true };
  const { outcome, process, pass, ...prepared } = await start(
    async () =>
      await inNetwork(work, conversationId, (network) =>
        confinement.start({ ...asked, ...network }, async (prepared) => ({
          limits: prepared.limits,
          closed: prepared.closed ?? [],
          sharesNetwork: prepared.openDialer !== undefined,
          sharesProcesses: prepared.launch.shared !== undefined,
          ...(await run(work, prepared, context)),
        })),
      ),
    guarded,
  );
  endWith(outcome, pass);
  const attention = await leftBehind(outcome, guarded);
  if (signal.aborted) guard?.reportAgain(attention);
  const workingDirectory = place.name;
  const session = await sessionAfter(work, outcome, context);
  const permissions = permissionsWanted(args);
  const refused = pass?.refused ?? new Map();
  const report = { command, workingDirectory, permissions, process, session, refused };
  return toCommandResult({ ...report, ...prepared, attention, outcome });
}

/** What a command's request says of the network: `network` among the permissions is the whole one. */
type CommandNetwork = Pick<CommandRequest, 'permissions' | 'hosts' | 'variables'>;

/** Starts a command with what it may reach. Its pass is the caller's once it has started. */
async function inNetwork<Started extends object>(
  { args, confinement, egress }: CommandWork,
  conversationId: string,
  begin: (network: CommandNetwork) => Promise<Started>,
): Promise<Started & { readonly pass: Pass | undefined }> {
  const hosts = hostsWanted(args, egress !== undefined);
  const permissions = permissionsWanted(args);
  if (hosts === undefined || hosts.includes(WHOLE_NETWORK))
    return { ...(await begin({ permissions })), pass: undefined };
  const door = await confinement.openDoor?.(conversationId);
  // The whole network would be more than was judged.
  if (door === undefined || egress === undefined) throw new ToolFailure('SANDBOX_FAILED', NO_DOOR);
  const pass = egress.admit(door, { conversationId, hosts });
  const others = permissions.filter((permission) => permission !== 'network');
  const variables = proxyVariables(door, pass);
  try {
    return { ...(await begin({ permissions: others, hosts, variables })), pass };
  } catch (error) {
    pass[Symbol.dispose]();
    throw error;
  }
}

const NO_DOOR = 'Hosts cannot be opened by name here, so the command was not run.';

/** A command in the background keeps its hosts until it ends. */
function endWith({ end }: BackgroundOutcome, pass: Pass | undefined): void {
  if (pass === undefined) return;
  if (end.state !== 'running') pass[Symbol.dispose]();
  else void end.ended.finally(() => pass[Symbol.dispose]());
}

/** Hands on what the command has left. Returns sentences on what it ran with, and on what has changed. */
async function sessionAfter(
  { args, session, sessions }: CommandWork,
  { shell, end }: BackgroundOutcome,
  { conversationId, places: [place], workspace }: ToolContext,
): Promise<readonly string[]> {
  const isInherited = args.working_directory === undefined;
  const ran = sentenceOn('It ran', isInherited ? place.name : undefined, session);
  if (shell === undefined) {
    const isOver = end.state !== 'running' && end.state !== 'not_started';
    return isOver && CHANGES_SHELL.test(args.command) ? [...ran, UNREPORTED] : ran;
  }
  const isMoved = shell.folder !== place.path;
  const moved = isMoved ? await placeOf(shell.folder, workspace) : undefined;
  const folder = isMoved ? moved?.path : session.folder;
  const { session: next, unkept } = sessions.take(conversationId, session, shell, folder);
  const isLost = isMoved && moved === undefined;
  const name = folder === undefined ? '.' : workspace.nameOf(folder);
  const isSame = folder === session.folder && lineIn(next, '') === lineIn(session, '');
  return [
    ...ran,
    ...(isSame ? [] : sentenceOn('Your next command starts', name, next, { always: true })),
    ...(isLost ? [OUTSIDE] : []),
    ...(unkept === undefined ? [] : [unkept]),
  ];
}

/**
 * A line that may have changed what a shell hands on: it has a word that can, wherever it stands. Of any other line, a
 * missing report loses nothing.
 */
const CHANGES_SHELL =
  /(?<![\w./-])(?:cd|pushd|popd|export|unset|declare|typeset|readonly|local|source|eval|ulimit|read|mapfile|readarray|getopts|let|set|coproc|printf\s+-v)(?![\w./-])|(?:^|\s)\.\s|(?<![\w-])[A-Za-z_]\w*\+?=|\bfor\s+\w+\s+in\b/;

/** As after `exit`, `exec`, a signal, or a limit on descriptors. */
const UNREPORTED =
  'Its shell ended before its report, so your next command starts with the folder and the exported variables of before this one.';

const OUTSIDE = 'No command can start in the folder where it ended.';

async function placeOf(folder: string, workspace: Workspace): Promise<ResolvedPath | undefined> {
  try {
    return await workspace.resolve(folder, 'read');
  } catch (error) {
    if (error instanceof ToolFailure) return undefined;
    throw error;
  }
}

/** Variables by their names alone: their values may be secrets, and people see them where they are asked. */
function sentenceOn(
  beginning: string,
  folder: string | undefined,
  { variables }: ShellSession,
  { always = false } = {},
): string[] {
  const names = [...variables.keys()].sort().join(', ');
  const place = folder === '.' ? 'the workspace itself' : nameInLine(folder ?? '.');
  const isShown = folder !== undefined && (folder !== '.' || always);
  const where = isShown ? ` in ${place}` : '';
  if (where === '' && names === '') return [];
  return [`${beginning}${where}${names === '' ? '' : `, with other values of ${names}`}.`];
}

/** A command that was never started counts as ended. */
async function start<Started>(
  work: () => Promise<Started>,
  guarded: GuardedCommand | undefined,
): Promise<Started> {
  try {
    return await work();
  } catch (error) {
    await guarded?.ended();
    throw error;
  }
}

async function leftBehind(
  { end }: BackgroundOutcome,
  guarded: GuardedCommand | undefined,
): Promise<readonly AttentionItem[]> {
  if (guarded === undefined) return [];
  return await (end.state === 'running' ? guarded.leaves(end.ended) : guarded.ended());
}

/** What became of a command, and its handle if it has one. */
interface CommandRun {
  readonly outcome: BackgroundOutcome;
  readonly process?: KnownProcess;
}

async function run(
  work: CommandWork,
  { launch, openDialer }: PreparedCommand,
  { onOutput, signal, places: [{ name: folder }], conversationId }: ToolContext,
): Promise<CommandRun> {
  const { args, line, background } = work;
  const { command: title, hosts = [] } = args;
  const permissions = permissionsWanted(args);
  const about = { conversationId, command: line, title, folder, permissions, hosts, openDialer };
  if (args.is_background === true) {
    if (background.isFull) throw tooMany();
    const outcome = await background.start(launch, { about, onOutput, signal });
    return outcome.end.state === 'running'
      ? { outcome, process: outcome.end.process }
      : { outcome };
  }
  const startedAtMs = Date.now();
  const kept = new BoundedOutput(TERMINAL_LIMITS.keptTailChars);
  const outcome = await runCommand(launch, { timeoutMs: timeoutOf(args), onOutput, signal, kept });
  if (kept.isShort) return { outcome };
  const state = { state: 'ended', end: outcome.end, endedAtMs: Date.now() } as const;
  return { outcome, process: background.book.add(about, { output: kept, startedAtMs, state }) };
}

function tooMany(): ToolFailure {
  return new ToolFailure(
    'TOO_MANY_PROCESSES',
    `${TERMINAL_LIMITS.maxBackground} background commands are running already: list yours with read_process and stop one with ` +
      'control_process, or ask the person to stop one (`drawbridge processes`).',
  );
}

async function assertFolder({ path, name }: ResolvedPath): Promise<void> {
  const stats = await stat(path).catch(() => undefined);
  if (stats?.isDirectory()) return;
  throw new ToolFailure(
    'NOT_A_FOLDER',
    `${nameInLine(name)} is not a folder, so no command can run there: look for one with list_dir.`,
  );
}

/** The system ends every argument at a NUL. */
function assertNoNul({ command }: CommandCall): void {
  if (!command.includes('\0')) return;
  throw new ToolFailure('INVALID_COMMAND', 'A command must not contain a NUL: leave it out.');
}
