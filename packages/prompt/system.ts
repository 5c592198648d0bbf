/** Builds the system prompt: the named blocks in their order, with the changes that a model family and a setting make. */

import {
  BLOCK_NAMES,
  type BlockName,
  type PromptChange,
} from '../../shared/settings/prompt-blocks.ts';
import type { Mode } from '../../shared/wire/modes.ts';
import type { BlockText, PromptFacts } from './blocks/block.ts';
import { codeChanges } from './blocks/code-changes.ts';
import { citingCode, communication } from './blocks/communication.ts';
import { mcpInstructions, userRules } from './blocks/instructions.ts';
import { surroundings, workspaceRules } from './blocks/messages.ts';
import { blocksOfMode, mode } from './blocks/mode.ts';
import { role, trust } from './blocks/role.ts';
import { subagent, subagentTypes } from './blocks/subagent.ts';
import { asking, taskManagement } from './blocks/tasks.ts';
import { commands, contextStrategy, parallelCalls, toolCalling } from './blocks/tool-calling.ts';
import { isModelIn } from './families.ts';
import type { ModeWords } from './mode.ts';

const BLOCKS: Readonly<Record<BlockName, BlockText>> = {
  role,
  trust,
  communication,
  citing_code: citingCode,
  surroundings,
  workspace_rules: workspaceRules,
  tool_calling: toolCalling,
  parallel_calls: parallelCalls,
  context_strategy: contextStrategy,
  commands,
  code_changes: codeChanges,
  task_management: taskManagement,
  asking,
  mode,
  subagent,
  subagent_types: subagentTypes,
  mcp_instructions: mcpInstructions,
  user_rules: userRules,
};

/** `changes` apply in order, where they are for the mode and for one of `names` (in the request, at the server). */
export function buildSystemPrompt(
  facts: PromptFacts,
  changes: readonly PromptChange[] = [],
  names: readonly string[] = [facts.model],
): string {
  const builtIn = BLOCK_NAMES.map((name) => ({ name, text: textOf(BLOCKS[name], facts) }));
  return changesFor(facts.mode, changes, names)
    .reduce<readonly PromptBlock[]>(changed, builtIn)
    .flatMap(({ name, text }) => (text === null ? [] : [`<${name}>\n${text}\n</${name}>`]))
    .join('\n\n');
}

/** What messages say about each following mode, with these changes; undefined without any. */
export function modeWordsWith(
  changes: readonly PromptChange[],
  names: readonly string[],
): ModeWords | undefined {
  const ofModes = changes.filter(({ change, modes }) => change !== 'add' || modes !== undefined);
  if (ofModes.length === 0) return undefined;
  const wordsOf = (mode: Mode) =>
    changesFor(mode, ofModes, names)
      .reduce<readonly PromptBlock[]>(changed, blocksOfMode(mode))
      .flatMap(({ text }) => text ?? [])
      .join('\n');
  return {
    agent: wordsOf('agent'),
    plan: wordsOf('plan'),
    ask: wordsOf('ask'),
    debug: wordsOf('debug'),
  };
}

function changesFor(
  mode: Mode,
  changes: readonly PromptChange[],
  names: readonly string[],
): readonly PromptChange[] {
  return changes
    .filter(({ modes }) => modes?.includes(mode) ?? true)
    .filter(({ models }) => !models || isModelIn(models, names));
}

/** A block of one prompt. It keeps its place without a text, because others can stand behind it. */
interface PromptBlock {
  readonly name: string;
  readonly text: string | null;
}

function textOf(text: BlockText, facts: PromptFacts): string | null {
  return typeof text === 'string' ? text : text(facts);
}

function changed(blocks: readonly PromptBlock[], change: PromptChange): readonly PromptBlock[] {
  return blocks.flatMap((block) => {
    if (change.change === 'add') {
      const added = { name: change.block, text: change.text };
      return block.name === change.after ? [block, added] : [block];
    }
    return [block.name === change.block ? rewritten(block, change) : block];
  });
}

function rewritten(
  { name, text }: PromptBlock,
  change: Exclude<PromptChange, { change: 'add' }>,
): PromptBlock {
  if (text === null || change.change === 'omit') return { name, text: null };
  return { name, text: change.change === 'append' ? `${text}\n${change.text}` : change.text };
}
