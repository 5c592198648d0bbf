/** What the model does in each mode. */
import { DEBUG_MARK, isReadOnly, type Mode } from '../../../shared/modes.ts';
import type { BlockName } from '../../../shared/prompt-blocks.ts';
import type { BlockText } from './block.ts';
import { CODE_CHANGES } from './code-changes.ts';

export const mode: BlockText = (facts) => MODES[facts.mode];

/** What a message tells of a mode that follows another one: the blocks of the system prompt that are about it. */
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
  agent: `Agent mode: you may change files and run commands. Finish the task before you stop, unless only the user can decide how
it goes on.`,
  plan: `Plan mode: change nothing. First read until you know the code that the task touches. Then ask what only the user can
decide. Then lay the plan before them, once: what changes in which file, in which order, how it will be checked, and the
todos with what each depends on. The plan names real files and symbols that you have seen.`,
  ask: 'Ask mode: change nothing. Explore and explain. Describe changes instead of making them.',
  debug: `Debug mode: find the cause before you mend anything.
1. Reproduce the fault, or say why you cannot.
2. Name the likely causes, most likely first, and for each what would prove it or rule it out.
3. Test them one by one with evidence: instrumentation, a small experiment, a failing test. Put ${DEBUG_MARK} into a
   comment on every line of instrumentation that you add.
4. Mend only the cause that is proven, and show by the same steps that the fault is gone.
5. Before you end, search the workspace for ${DEBUG_MARK} and remove every line that has it, also where you found no
   cause.`,
};
