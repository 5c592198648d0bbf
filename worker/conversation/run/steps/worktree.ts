/** The turns that open and close a run's worktree. Their calls are Drawbridge's own, stored like any other. */

import { newCallId } from '../../../../shared/ids.ts';
import {
  closeWorktree,
  hasWorktrees,
  openWorktree,
  WORKTREES_NOT_SUPPORTED,
} from '../../../../shared/tools/worktree.ts';
import type { TapeEvent } from '../../../../shared/wire/events.ts';
import type { Run } from '../../store/rows.ts';
import { titleOf } from '../../store/title.ts';
import type { ErrorReport } from '../../tape/error-document.ts';
import type { RunDeps } from '../run-deps.ts';
import { lookAtWorktree } from './looks.ts';
import type { OwnCall } from './own-turn.ts';
import type { OwnTurn, Step } from './step.ts';

type OwnTreeDeps = Pick<RunDeps, 'worktree' | 'newUuid'>;

/** Whether the run opens and closes a worktree. A subagent's run works in that of another conversation. */
export function worksInOwnTree({ request }: Pick<Run, 'request'>): boolean {
  return request.worktree === true;
}

/** The first turn of the run opens the worktree. Once the model has no more calls, the last one closes it. */
export function worktreeStep(run: Run, deps: RunDeps): Step | undefined {
  if (!worksInOwnTree(run)) return undefined;
  const { machine } = run;
  const { log, recorder } = deps;
  const last = log.turns.at(-1);
  if (!last) {
    if (!machine || !hasWorktrees(machine)) return { type: 'fail', error: UNSUPPORTED };
    const { branch, base } = deps.worktree();
    const args = { ...(branch !== undefined && { branch }), ...(base !== undefined && { base }) };
    return turnOfWorktree(openWorktree.name, args, deps);
  }
  const [call] = last.calls;
  if (last.own !== 'worktree' || !call) {
    const isDone = !call && !log.hasWaitingSteer;
    return isDone ? closeStep(run, deps) : undefined;
  }
  const { status } = Object(recorder.document(call.documentId)?.metadata['result']);
  if (status !== 'success') return { type: 'end', status: 'error' };
  if (call.name === openWorktree.name && !machine?.isInWorktree) {
    return { type: 'look', look: () => lookAtWorktree(run, deps) };
  }
  const isOver = call.name === closeWorktree.name && !log.hasWaitingSteer;
  return isOver ? { type: 'end', status: 'completed' } : undefined;
}

/**
 * The turn that ends a run's work in the worktree, after these events. The first commit of a conversation has its title,
 * a later one also the first line of the message that it answers.
 */
export function closeStep(
  { ordinal, request }: Run,
  deps: OwnTreeDeps,
  events: readonly TapeEvent[] = [],
): OwnTurn {
  const { commit, message: title } = deps.worktree();
  const asked = titleOf(request.messages.at(-1)?.content ?? '');
  const message = ordinal === 1 || asked === title ? title : `${asked}\n\n${title}`.trimEnd();
  const args = message === '' ? { commit } : { commit, message };
  return { ...turnOfWorktree(closeWorktree.name, args, deps), events };
}

function turnOfWorktree(name: string, args: OwnCall['args'], { newUuid }: OwnTreeDeps): OwnTurn {
  const call = { callId: newCallId(newUuid()), name, args };
  return { type: 'turn', calls: [call], own: 'worktree' };
}

const UNSUPPORTED: ErrorReport = {
  code: 'WORKTREES_NOT_SUPPORTED',
  source: 'drawbridge',
  message: WORKTREES_NOT_SUPPORTED,
};
