/** Runs run_terminal_cmd: runs a shell command under the machine's confinement, to its end or in the background. */
import { stat } from 'node:fs/promises';
import { COMMAND_LIMITS } from '../../shared/limits.ts';
import { nameInLine } from '../../shared/text/plain-sight.ts';
import { runTerminalCmd } from '../../shared/tools/run-terminal-cmd.ts';
import type { Proposal } from '../../shared/wire/approvals.ts';
import type { AttentionItem } from '../../shared/wire/attention.ts';
import type { ToolResult } from '../../shared/wire/tunnel.ts';
import { ToolFailure } from '../failure.ts';
import type { GuardedCommand, WorkspaceGuard } from '../quarantine/guard.ts';
import type { Confinement, PreparedCommand } from '../sandbox/launch/confinement.ts';
import type { BackgroundOutcome, BackgroundProcesses } from '../terminal/background.ts';
import { TERMINAL_LIMITS } from '../terminal/limits.ts';
import { BoundedOutput } from '../terminal/output.ts';
import type { KnownProcess } from '../terminal/process-book.ts';
import { runCommand } from '../terminal/run-command.ts';
import { lineIn, type ShellSession, ShellSessions } from '../terminal/shell-sessions.ts';
import type { Place, Workspace } from '../workspace/workspace.ts';
import { toCommandResult } from './command-result.ts';
import {
  type ArgumentsOf,
  type BridgeTool,
  type Proposed,
  parseArguments,
  type ToolContext,
} from './executor.ts';

type CommandCall = ArgumentsOf<typeof runTerminalCmd>;

/** The machine's parts that the commands of one bridge use. */
export interface CommandMachine {
  readonly confinement: Confinement;
  readonly background: BackgroundProcesses;
  /**
   * Watches what sandboxed commands leave behind. Commands outside the sandbox are not watched: a person allowed them.
   */
  readonly guard?: WorkspaceGuard | undefined;
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
interface Work extends CommandMachine {
  readonly args: CommandCall;
  readonly session: ShellSession;
  readonly line: string;
  readonly sessions: ShellSessions;
}

async function propose(work: Work, { places: [place], workspace }: ToolContext): Promise<Proposed> {
  await assertFolder(place);
  assertNoNul(work.args);
  return {
    proposal: toProposal(work, workspace.nameOf(place.path)),
    apply: (context) => carryOut(work, context),
  };
}

function toProposal(work: Work, folder: string): Proposal {
  const { args, line, confinement } = work;
  const { permissions = [], is_background: background = false } = args;
  return {
    kind: 'command',
    tool: runTerminalCmd.name,
    command: line,
    folder,
    permissions: [...new Set(permissions)].sort(),
    background,
    timeLimitMs: background ? null : timeoutOf(args),
    confinement: isHeld(work) ? confinement.kind : 'none',
  };
}

function isHeld({ args: { permissions = [] }, confinement }: Work): boolean {
  return confinement.kind !== 'none' && !permissions.includes('all');
}

function timeoutOf({ timeout = COMMAND_LIMITS.defaultTimeoutMs }: CommandCall): number {
  return timeout;
}

async function carryOut(work: Work, context: ToolContext): Promise<ToolResult> {
  const { args, line, confinement, guard } = work;
  const { command, permissions = [] } = args;
  const { conversationId, signal } = context;
  const [place] = context.places;
  const guarded = isHeld(work) ? await guard?.begins(command) : undefined;
  const reportsShell = args.is_background !== true;
  const asked = { command: line, cwd: place.path, permissions, conversationId, reportsShell };
  const { outcome, process, ...prepared } = await start(
    () =>
      confinement.start(asked, async (prepared) => ({
        limits: prepared.limits,
        closed: prepared.closed ?? [],
        sharesNetwork: prepared.sharesNetwork === true,
        ...(await run(work, prepared, context)),
      })),
    guarded,
  );
  const attention = await leftBehind(outcome, guarded);
  if (signal.aborted) guard?.reportAgain(attention);
  const workingDirectory = place.name;
  const session = await sessionAfter(work, outcome, context);
  const report = { command, workingDirectory, permissions, process, session, ...prepared };
  return toCommandResult({ ...report, attention, outcome });
}

/** Hands on what the command has left. Returns sentences on what it ran with, and on what has changed. */
async function sessionAfter(
  { args, session, sessions }: Work,
  { shell }: BackgroundOutcome,
  { conversationId, places: [place], workspace }: ToolContext,
): Promise<readonly string[]> {
  const isInherited = args.working_directory === undefined;
  const ran = sentenceOn('It ran', isInherited ? place.name : undefined, session);
  if (shell === undefined) return ran;
  const isMoved = shell.folder !== place.path;
  const moved = isMoved ? await placeOf(shell.folder, workspace) : undefined;
  const folder = isMoved ? moved?.path : session.folder;
  const next = sessions.take(conversationId, session, shell, folder);
  const isLost = isMoved && moved === undefined;
  const name = folder === undefined ? '.' : workspace.nameOf(folder);
  const isSame = folder === session.folder && lineIn(next, '') === lineIn(session, '');
  return [
    ...ran,
    ...(isSame ? [] : sentenceOn('Your next command starts', name, next, { always: true })),
    ...(isLost ? [OUTSIDE] : []),
  ];
}

const OUTSIDE = 'No command can start in the folder where it ended.';

async function placeOf(folder: string, workspace: Workspace): Promise<Place | undefined> {
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
interface Run {
  readonly outcome: BackgroundOutcome;
  readonly process?: KnownProcess;
}

async function run(
  work: Work,
  { launch, sharesNetwork }: PreparedCommand,
  { onOutput, signal, places: [{ name: folder }], conversationId }: ToolContext,
): Promise<Run> {
  const { args, line, background, confinement } = work;
  const { command: title, permissions = [] } = args;
  const { openDialer } = confinement;
  const dial = sharesNetwork && openDialer && (() => openDialer(conversationId));
  const about = {
    ...{ conversationId, command: line, title, folder, permissions },
    ...(dial && { openDialer: dial }),
  };
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
      'control_process, or ask the person to stop one (drawbridge processes).',
  );
}

async function assertFolder({ path, name }: Place): Promise<void> {
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
