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
import type { Place } from '../workspace/workspace.ts';
import { toCommandResult } from './command-result.ts';
import { type ArgumentsOf, type BridgeTool, bindTool, type ToolContext } from './executor.ts';

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
  return bindTool(runTerminalCmd, {
    pathOf: (args) => args.working_directory ?? '.',
    propose: async (args, { places: [place], workspace }) => {
      await assertFolder(place);
      assertNoNul(args);
      return {
        proposal: toProposal(args, workspace.nameOf(place.path), machine),
        apply: (context) => carryOut(args, machine, context),
      };
    },
  });
}

function toProposal(args: CommandCall, folder: string, machine: CommandMachine): Proposal {
  const { command, permissions = [], is_background: background = false } = args;
  return {
    kind: 'command',
    tool: runTerminalCmd.name,
    command,
    folder,
    permissions: [...new Set(permissions)].sort(),
    background,
    timeLimitMs: background ? null : timeoutOf(args),
    confinement: isHeld(args, machine) ? machine.confinement.kind : 'none',
  };
}

function isHeld({ permissions = [] }: CommandCall, { confinement }: CommandMachine): boolean {
  return confinement.kind !== 'none' && !permissions.includes('all');
}

function timeoutOf({ timeout = COMMAND_LIMITS.defaultTimeoutMs }: CommandCall): number {
  return timeout;
}

async function carryOut(
  args: CommandCall,
  machine: CommandMachine,
  context: ToolContext,
): Promise<ToolResult> {
  const { command, permissions = [] } = args;
  const { signal } = context;
  const [place] = context.places;
  const guarded = isHeld(args, machine) ? await machine.guard?.begins(command) : undefined;
  const { conversationId } = context;
  const request = { command, cwd: place.path, permissions, conversationId };
  const { outcome, process, ...prepared } = await start(
    () =>
      machine.confinement.start(request, async (prepared) => ({
        limits: prepared.limits,
        closed: prepared.closed ?? [],
        sharesNetwork: prepared.sharesNetwork === true,
        ...(await run(args, prepared, machine, context)),
      })),
    guarded,
  );
  const attention = await leftBehind(outcome, guarded);
  if (signal.aborted) machine.guard?.reportAgain(attention);
  const workingDirectory = place.name;
  const report = { command, workingDirectory, permissions, process, ...prepared };
  return toCommandResult({ ...report, attention, outcome });
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
  args: CommandCall,
  { launch }: PreparedCommand,
  machine: CommandMachine,
  { onOutput, signal, places: [{ name: folder }], conversationId }: ToolContext,
): Promise<Run> {
  const { background } = machine;
  const { command, permissions = [] } = args;
  const about = { conversationId, command, folder, permissions };
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
