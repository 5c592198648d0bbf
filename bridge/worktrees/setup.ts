/** Runs the owner's setup in a new worktree. */
import { ToolFailure } from '../../machine/failure.ts';
import { type Confinement, type OtherFolder, runCommand } from '../../packages/sandbox/index.ts';
import { WORKTREE_LIMITS } from './limits.ts';
import type { WorktreeSettings } from './settings.ts';

/** A running setup. */
export interface Making {
  readonly signal: AbortSignal;
  /** Takes what the setup prints. */
  readonly onOutput: (text: string) => void;
}

/**
 * What it printed; empty without a setup. Throws a ToolFailure (`SETUP_FAILED`) for any end but success. `confinement` is
 * the workspace's.
 */
export async function setUp(
  { setup: command, network }: WorktreeSettings,
  confinement: Confinement,
  folder: OtherFolder,
  { signal, onOutput }: Making,
): Promise<string> {
  if (command === undefined) return '';
  if (confinement.kind === 'none') throw failed('It only runs in a sandbox, and there is none.');
  using there = await confinement.elsewhere(folder);
  const permissions = network ? (['network'] as const) : [];
  const request = { command, cwd: folder.workspace, permissions };
  const { end, output } = await there.start(request, ({ launch }) =>
    runCommand(launch, { timeoutMs: WORKTREE_LIMITS.setupMs, onOutput, signal }),
  );
  signal.throwIfAborted();
  if (end.state === 'exited' && end.exitCode === 0) return output;
  const how = end.state === 'exited' ? `exit code ${end.exitCode}` : end.state;
  throw failed(`${how}\n${output}`);
}

function failed(how: string): ToolFailure {
  return new ToolFailure(
    'SETUP_FAILED',
    `The setup of the worktree failed, so there is none. The person can correct it (worktrees.json). ${how}`,
  );
}
