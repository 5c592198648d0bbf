/** A block of the system prompt, and the facts that its text depends on. */

import type { ToolFacts } from '../../../shared/tools/definition.ts';
import type { Mode } from '../../../shared/wire/modes.ts';

/** What a conversation's system prompt depends on. It changes only with these. */
export interface PromptFacts {
  /** The name by which the request asked for the model. */
  readonly model: string;
  readonly mode: Mode;
  readonly tools: readonly Pick<ToolFacts, 'name' | 'executor'>[];
  /** What servers of the bridge's machine say of the tools that they offer, in their own words. */
  readonly instructions?: readonly { readonly server: string; readonly text: string }[];
  /** Set for a subagent. `definition` is the workspace's file that defines its type; absent for a built-in type. */
  readonly subagent?:
    | {
        readonly type: string;
        readonly definition?: { readonly path: string; readonly text: string } | undefined;
      }
    | undefined;
  /** The types of subagents that files of the workspace define. */
  readonly agents?: readonly { readonly name: string; readonly description: string }[] | undefined;
  /** The user's own rules, in the order given. */
  readonly rules: readonly string[];
}

/** The text between the block's tags. Null where the block has nothing to say. */
export type BlockText = string | ((facts: PromptFacts) => string | null);

/** Whether a tool of the bridge is on offer, so that the model can see and touch the workspace. */
export function hasHands({ tools }: PromptFacts): boolean {
  return tools.some(({ executor }) => executor === 'bridge');
}

export function hasTool({ tools }: PromptFacts, wanted: { readonly name: string }): boolean {
  return tools.some(({ name }) => name === wanted.name);
}
