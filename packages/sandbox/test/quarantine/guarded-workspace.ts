/** A sandboxed workspace with its guard: commands run as a bridge runs them. */
import { execFile } from 'node:child_process';
import { rm } from 'node:fs/promises';
import { onTestFinished } from 'vitest';
import { createRunTerminalCmd } from '../../../../bridge/commands/run-terminal-cmd.ts';
import { currentCall } from '../../../../machine/log.ts';
import type { LogIds } from '../../../../machine/log-line.ts';
import type { AttentionItem } from '../../../../shared/wire/attention.ts';
import { TerminalCommandMetadata } from '../../../../shared/wire/documents.ts';
import { carryOut } from '../../../../test/bridge/tools/temporary-workspace.ts';
import { ReadLedger } from '../../../host/ledger.ts';
import { Workspace } from '../../../workspace/workspace.ts';
import { WorkspaceGuard } from '../../quarantine/guard.ts';
import { type ListProtected, protectedIn } from '../../quarantine/listing.ts';
import { listRecords } from '../../quarantine/store.ts';
import { BackgroundProcesses } from '../../terminal/background.ts';
import { OWNER, type SandboxedWorkspace, sandboxedWorkspace } from '../sandboxed-workspace.ts';

export interface GuardedWorkspace {
  readonly root: string;
  readonly place: SandboxedWorkspace;
  readonly guard: WorkspaceGuard;
  readonly background: BackgroundProcesses;
  /** What was reported at the machine. */
  readonly reported: string[];
  /** The calls that each of it was reported for. */
  readonly reportedFor: LogIds[];
  readonly run: (
    command: string,
    options?: { is_background?: boolean; permissions?: ('network' | 'git_write' | 'all')[] },
    signal?: AbortSignal,
  ) => Promise<{ data: string; output: string; attention: readonly AttentionItem[] }>;
  /** What the person's git makes of a folder of the workspace. */
  readonly git: (folder: string, ...args: string[]) => Promise<string>;
  /** Names of what lies in quarantine, each once. */
  readonly quarantined: () => string[];
}

/** `withRepository` keeps the repository that the workspace has; without it there is none. */
export async function guardedWorkspace({
  withRepository = true,
  before = async (_place: SandboxedWorkspace): Promise<void> => {},
  stateDir = undefined as string | undefined,
  listing = (list: ListProtected): ListProtected => list,
} = {}): Promise<GuardedWorkspace> {
  const place = await sandboxedWorkspace();
  const state = stateDir ?? place.path('instances/state');
  if (!withRepository) await rm(place.path('workspace/.git'), { recursive: true });
  await before(place);
  const reported: string[] = [];
  const reportedFor: LogIds[] = [];
  const root = place.surroundings.workspace;
  const guard = await WorkspaceGuard.open({
    workspace: root,
    stateDir: state,
    listProtected: listing(protectedIn(root)),
    report: (line) => {
      reported.push(line);
      reportedFor.push(currentCall());
    },
  });
  const background = new BackgroundProcesses();
  onTestFinished(async () => {
    await background.endAll();
    await guard.close().catch(() => {}); // A test may have taken its folder away.
    await place.remove();
  });
  const workspace = await Workspace.open(root);
  const tool = createRunTerminalCmd({ confinement: place.confinement, background, guard });
  return {
    root,
    place,
    guard,
    background,
    reported,
    reportedFor,
    run: async (command, options = {}, signal = new AbortController().signal) => {
      const { data, metadata } = await carryOut(
        tool,
        { command, ...options },
        {
          workspace,
          places: [await workspace.resolve('.', 'read')],
          ledger: new ReadLedger(),
          mayRepeat: false,
          elicit: async () => ({ decision: 'expired' as const }),
          signal,
          callId: 'call_test',
          conversationId: 'conv_test',
          isReviewed: false,
          onOutput: () => {},
        },
      );
      const { output, newlyProtected = [] } = TerminalCommandMetadata.parse(metadata);
      return { data, output, attention: newlyProtected };
    },
    git: (folder, ...args) =>
      new Promise((resolve) => {
        const cwd = place.path(`workspace/${folder}`);
        // Not the repository that this very test belongs to.
        const env = {
          ...process.env,
          HOME: place.path('home'),
          GIT_CEILING_DIRECTORIES: place.base,
          GIT_CONFIG_NOSYSTEM: '1',
        };
        execFile('git', args, { cwd, env, ...OWNER }, (_error, stdout, stderr) =>
          resolve(stdout + stderr),
        );
      }),
    quarantined: () => {
      const { records } = listRecords(state);
      return [...new Set(records.flatMap(({ items }) => items.map(({ name }) => name)))].sort();
    },
  };
}
