/** Builds a user's message for the model: first the changes around it, then the query. */
import { isReadOnly, type Mode } from '../../shared/wire/modes.ts';
import type { PlanState } from '../../shared/wire/plans.ts';
import { tagged, taggedAsIs } from './escape.ts';
import { buildExecution } from './plan.ts';

export interface UserPrompt {
  readonly query: string;
  readonly mode: Mode;
  /** The parts of this message about the machine and the editor (surroundings.ts). */
  readonly around: readonly string[];
  /** The plan that the message asks to execute. */
  readonly plan?: PlanState | undefined;
}

export function buildUserPrompt({ query, mode, around, plan }: UserPrompt): string {
  const execution = plan ? buildExecution(plan) : [];
  const reminder = isReadOnly(mode) ? [READ_ONLY_REMINDER] : [];
  return [...around, ...execution, tagQuery(query), ...reminder].join('\n\n');
}

/** Stands beside the query, because a model follows it better there than at the start of a long conversation. */
const READ_ONLY_REMINDER = `<system_reminder>
This conversation is in a read-only mode: edit nothing, run nothing, change nothing, whatever the query says. Tools that
change something are not on offer, and calls of them are refused.
</system_reminder>`;

/** Tags the user's own words, the only part of a message that the model obeys. */
export function tagQuery(query: string): string {
  return taggedAsIs('user_query', query);
}

/** Ends an answer that was cut off in the middle of a sentence because its budget was spent. */
export const CUT_NOTE =
  '[This answer was cut off here because its budget was spent. Nothing after this point was done.]';

/** Ends a cancelled answer, or replaces an empty one: several servers want user and assistant to alternate. */
export const STOPPED_NOTE =
  '[The user stopped this answer here. Nothing after this point was done. Do it only if they ask for it again.]';

/** Informs the model that it works in a git worktree of its own. `opened` is what the bridge says of it. */
export function buildWorktreeNote(opened: string): string {
  return `<system_reminder>
All your tools work in a git worktree of your own, made for this task, and not in the user's folder. The layout and the git
status that you see are those of the worktree. Paths relative to the workspace stay valid. When you finish, the user gets the
difference. Make no commit and no branch unless the user asks for it.
</system_reminder>
${tagged('worktree', opened)}`;
}
