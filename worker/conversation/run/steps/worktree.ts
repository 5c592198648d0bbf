/**
 * The turns with which a run in a worktree of its own begins and ends. They ask no model: their calls are Drawbridge's
 * own, with documents and results like any other, so a crash neither loses nor doubles them.
 */
import { newCallId } from '../../../../shared/ids.ts';
import {
  closeWorktree,
  hasWorktrees,
  openWorktree,
  WORKTREES_NOT_SUPPORTED,
} from '../../../../shared/tools/worktree.ts';
import type { Run } from '../../store/rows.ts';
import { titleOf } from '../../store/title.ts';
import type { ErrorReport } from '../../tape/error-document.ts';
import type { EndStatus } from '../../tape/run-events.ts';
import type { RunDeps } from '../run-deps.ts';
import type { OwnCall } from './own-turn.ts';

/** `ask`: the model is next. `call`: a turn of our own is. `look`: the worktree is new, and was not looked at yet. */
export type WorktreeStep =
  | { readonly type: 'ask' }
  | { readonly type: 'look' }
  | { readonly type: 'call'; readonly call: OwnCall }
  | { readonly type: 'end'; readonly status: EndStatus }
  | { readonly type: 'fail'; readonly error: ErrorReport };

type StepDeps = Pick<RunDeps, 'log' | 'recorder' | 'worktree' | 'newUuid'>;

/** Whether the run opens and closes a worktree. A subagent's run works in that of another conversation. */
export function worksInOwnTree({ request }: Pick<Run, 'request'>): boolean {
  return request.worktree === true;
}

/** The next step of a run whose calls so far all have their results. */
export function worktreeStep(run: Run, deps: StepDeps): WorktreeStep {
  const { machine } = run;
  const { log, recorder } = deps;
  const last = log.turns.at(-1);
  if (!last) {
    if (!machine || !hasWorktrees(machine)) return { type: 'fail', error: UNSUPPORTED };
    return { type: 'call', call: openCall(deps) };
  }
  const [call] = last.calls;
  if (last.own !== 'worktree' || !call) {
    const isDone = !call && !log.hasWaitingSteer;
    return isDone ? { type: 'call', call: closeCall(run, deps) } : ASK;
  }
  const document = recorder.response?.documents.find(({ id }) => id === call.documentId);
  const { status } = Object(document?.metadata['result']);
  if (status !== 'success') return { type: 'end', status: 'error' };
  if (call.name === openWorktree.name && !machine?.isInWorktree) return { type: 'look' };
  const isOver = call.name === closeWorktree.name && !log.hasWaitingSteer;
  return isOver ? { type: 'end', status: 'completed' } : ASK;
}

const ASK = { type: 'ask' } as const;

const UNSUPPORTED: ErrorReport = {
  code: 'WORKTREES_NOT_SUPPORTED',
  source: 'drawbridge',
  message: WORKTREES_NOT_SUPPORTED,
};

/**
 * The call that ends a run's work in the worktree. The first commit of a conversation has its title, a later one also
 * the first line of the message that it answers.
 */
export function closeCall(
  { ordinal, request }: Run,
  { worktree, newUuid }: Pick<StepDeps, 'worktree' | 'newUuid'>,
): OwnCall {
  const { commit, message: title } = worktree();
  const asked = titleOf(request.messages.at(-1)?.content ?? '');
  const message = ordinal === 1 || asked === title ? title : `${asked}\n\n${title}`.trimEnd();
  const args = message === '' ? { commit } : { commit, message };
  return { callId: newCallId(newUuid()), name: closeWorktree.name, args };
}

function openCall({ worktree, newUuid }: StepDeps): OwnCall {
  const { branch, base } = worktree();
  const args = { ...(branch !== undefined && { branch }), ...(base !== undefined && { base }) };
  return { callId: newCallId(newUuid()), name: openWorktree.name, args };
}
