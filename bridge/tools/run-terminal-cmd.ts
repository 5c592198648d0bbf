/** Runs run_terminal_cmd: a shell command under the machine's confinement, to its end or in the background. */
import { stat } from 'node:fs/promises';
import type { AttentionItem } from '../../shared/attention.ts';
import { COMMAND_LIMITS } from '../../shared/limits.ts';
import { nameInLine } from '../../shared/plain-sight.ts';
import type { runTerminalCmd } from '../../shared/tools/run-terminal-cmd.ts';
import type { ToolResult } from '../../shared/tunnel.ts';
import { ToolFailure } from '../failure.ts';
import type { GuardedCommand, WorkspaceGuard } from '../quarantine/guard.ts';
import type { Confinement, PreparedCommand } from '../sandbox/confinement.ts';
import type { BackgroundOutcome, BackgroundProcesses } from '../terminal/background.ts';
import { runCommand } from '../terminal/run-command.ts';
import type { Place, Workspace } from '../workspace/workspace.ts';
import { type CommandReport, toCommandResult } from './command-result.ts';
import { type ArgumentsOf, executor, type ToolContext, type ToolExecutor } from './executor.ts';

type Arguments = ArgumentsOf<typeof runTerminalCmd>;

/**
 * The executor of one bridge. The permissions in the arguments count as granted: the policy has answered before.
 * A command that ends by itself is a success whatever its exit code, for the model must read what it printed; one that
 * is ended (`TIMEOUT`, `CANCELLED`) or could not be started (`NOT_STARTED`) is an error. Metadata is always that of a
 * terminal command.
 */
export function createRunTerminalCmd(machine: {
  readonly confinement: Confinement;
  readonly background: BackgroundProcesses;
  /** Watches what commands of the sandbox leave behind; others a person has let out of it. */
  readonly guard?: WorkspaceGuard | undefined;
}): ToolExecutor<Arguments> {
  return executor(async (args, context): Promise<ToolResult> => {
    const permissions = args.permissions ?? [];
    const place = await findFolder(args.working_directory ?? '.', context.workspace);
    const { command } = refuseNul(args);
    const isHeld = machine.confinement.kind !== 'none' && !permissions.includes('all');
    const guarded = isHeld ? await machine.guard?.begins(command) : undefined;
    const request = { command, cwd: place.path, permissions };
    const { limits, outcome } = await start(
      () =>
        machine.confinement.start(request, async (prepared) => ({
          limits: prepared.limits,
          outcome: await run(args, prepared, machine.background, context),
        })),
      guarded,
    );
    const attention = await leftBehind(outcome, guarded);
    if (context.signal.aborted) machine.guard?.tellAgain(attention);
    const report: CommandReport = {
      command,
      workingDirectory: place.name,
      permissions,
      limits,
      attention,
      outcome,
    };
    return toCommandResult(report);
  });
}

/** A command that was never started has ended. */
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

async function run(
  args: Arguments,
  { launch }: PreparedCommand,
  background: BackgroundProcesses,
  { onOutput, signal }: ToolContext,
): Promise<BackgroundOutcome> {
  if (args.is_background !== true) {
    const timeoutMs = args.timeout ?? COMMAND_LIMITS.defaultTimeoutMs;
    return await runCommand(launch, { timeoutMs, onOutput, signal });
  }
  if (background.isFull) {
    throw new ToolFailure(
      'TOO_MANY_PROCESSES',
      `${COMMAND_LIMITS.maxBackground} background commands are running already: ask the person to restart the bridge, which ends them.`,
    );
  }
  return await background.start(launch, { onOutput, signal });
}

async function findFolder(path: string, workspace: Workspace): Promise<Place> {
  const place = await workspace.resolve(path, 'read');
  const stats = await stat(place.path).catch(() => undefined);
  if (stats?.isDirectory()) return place;
  throw new ToolFailure(
    'NOT_A_FOLDER',
    `${nameInLine(place.name)} is not a folder, so no command can run there: look for one with list_dir.`,
  );
}

/** The system ends every argument at a NUL. */
function refuseNul(args: Arguments): Arguments {
  if (!args.command.includes('\0')) return args;
  throw new ToolFailure('INVALID_COMMAND', 'A command must not contain a NUL: leave it out.');
}
