/** What the model does in each mode. */

import type { BlockName } from '../../../shared/settings/prompt-blocks.ts';
import { DEBUG_MARK, isReadOnly, type Mode } from '../../../shared/wire/modes.ts';
import type { BlockText } from './block.ts';
import { CODE_CHANGES } from './code-changes.ts';

export const mode: BlockText = (facts) => MODES[facts.mode];

/** What a message says about a mode that follows another one: the blocks of the system prompt that are about it. */
export function blocksOfMode(mode: Mode): { readonly name: BlockName; readonly text: string }[] {
  const said = { name: 'mode' as const, text: MODES[mode] };
  return isReadOnly(mode) ? [said] : [said, { name: 'code_changes', text: CODE_CHANGES }];
}

export function modeWords(mode: Mode): string {
  return blocksOfMode(mode)
    .map(({ text }) => text)
    .join('\n');
}

const MODES: Record<Mode, string> = {
  agent: `Agent mode: you may change files and run commands. Work until the task is done and checked. Stop earlier only if the user has
to decide how to go on.`,
  plan: `Plan mode: change nothing. First read until you know the code that the task touches. Then ask what only the user can
decide. Then present the plan once: what changes in which file, in which order, how to check it, and the todos with their
dependencies. Name real files and symbols that you have seen.`,
  ask: 'Ask mode: change nothing. Explore and explain. Describe changes instead of making them.',
  debug: `Debug mode: find the cause before you fix anything.
1. Reproduce the bug, or say why you cannot.
2. List the likely causes, the most likely first, and what would prove or rule out each.
3. Test them one by one with evidence: instrumentation, a small experiment, a failing test. Put ${DEBUG_MARK} into a
   comment on every line of instrumentation that you add.
4. Fix only the cause that is proven, and show with the same steps that the bug is gone.
5. Before you finish, search the workspace for ${DEBUG_MARK} and remove every line that has it, even if you found no
   cause.`,
};
