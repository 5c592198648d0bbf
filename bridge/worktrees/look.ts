/** What a worktree looks like to the run that works in it. */

import type { Confinement } from '../../packages/sandbox/index.ts';
import type { Workspace } from '../../packages/workspace/index.ts';
import { readLayout } from '../context/context.ts';
import type { LookedWorktree } from '../context/finder.ts';
import { formatStatus, STATUS } from '../context/git-status.ts';
import type { Workshop } from './making.ts';
import { recordCall } from './record.ts';
import type { WorktreeFacts } from './store.ts';

interface LookPlace {
  readonly workspace: Workspace;
  readonly confinement: Confinement;
}

/** Git's status is that of the bridge's own record: it has what differs from the commit at which the work began. */
export function lookedAt(
  { git, store }: Workshop,
  facts: WorktreeFacts,
  { workspace, confinement }: LookPlace,
): LookedWorktree {
  const readStatus = async (mayName: (name: string) => boolean, signal: AbortSignal) => {
    const call = recordCall(facts, store.pathsOf(facts.conversationId), confinement);
    const output = await git.run({ ...call, cwd: workspace.root, args: STATUS_HERE, signal });
    return formatStatus(output, facts.prefix, mayName);
  };
  return {
    workspace,
    look: async ({ mayName }, signal) => {
      const [projectLayout, gitStatus] = await Promise.all([
        readLayout(workspace.root, signal, { mayName }),
        readStatus(mayName, signal).catch(() => undefined), // Commands can keep git from reading the files.
      ]);
      return { projectLayout, ...(gitStatus !== undefined && { gitStatus }) };
    },
  };
}

const STATUS_HERE = [...STATUS, '--', '.'];
