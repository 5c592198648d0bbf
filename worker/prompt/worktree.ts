/** Tells the model that it works in a git worktree of its own. */
import { tagged } from './escape.ts';

/** `opened` is what the bridge says of the worktree. */
export function buildWorktreeNote(opened: string): string {
  return `<system_reminder>
From here on all your tools work in a git worktree of your own, made for this task, and not in the user's folder. The
layout that you were told is nearly the same, the git status is that of the user's folder. Paths relative to the
workspace stay valid. When you have finished, the user gets the difference; make no commit or branch unless asked.
</system_reminder>
${tagged('worktree', opened)}`;
}
