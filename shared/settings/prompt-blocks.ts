/** The blocks of the system prompt, and how a deployment changes them: the form of the setting PROMPT_BLOCKS. */
import * as z from 'zod';
import { PROMPT_SETTING_LIMITS } from '../limits.ts';
import { Mode } from '../wire/modes.ts';
import { parseJsonSetting } from './json-setting.ts';

/** The built-in blocks, in the order in which the model gets them. Each name is the block's tag. */
export const BLOCK_NAMES = [
  'role',
  'trust',
  'communication',
  'citing_code',
  'surroundings',
  'workspace_rules',
  'tool_calling',
  'parallel_calls',
  'context_strategy',
  'commands',
  'code_changes',
  'task_management',
  'asking',
  'mode',
  'subagent',
  'subagent_types',
  'mcp_instructions',
  'user_rules',
] as const;
export type BlockName = (typeof BLOCK_NAMES)[number];

/** Blocks that can only be added to: they keep the model safe, or hold what the user of a request demands. */
const KEPT: ReadonlySet<string> = new Set<BlockName>(['trust', 'user_rules']);

const { maxChanges, maxNameChars, maxTextChars, maxModels } = PROMPT_SETTING_LIMITS;

const Name = z
  .string()
  .max(maxNameChars)
  .regex(/^[a-z][a-z0-9_]*$/, 'must be a name of small letters, digits and _');
const Text = z.string().min(1).max(maxTextChars);

const Only = {
  /** The modes in which the change holds. Absent: all. */
  modes: z.array(Mode).min(1).optional(),
  /** Globs of the models for which it holds, by the name in a request or at the server. Absent: all. */
  models: z.array(z.string().min(1).max(maxTextChars)).min(1).max(maxModels).optional(),
};

/** One change. Texts stand between the block's tags. A block that a conversation does not have stays away. */
export const PromptChange = z.discriminatedUnion('change', [
  z.strictObject({ change: z.literal('replace'), block: Name, text: Text, ...Only }),
  z.strictObject({ change: z.literal('append'), block: Name, text: Text, ...Only }),
  z.strictObject({ change: z.literal('omit'), block: Name, ...Only }),
  /** A new block, with a name of its own, behind the block `after`. */
  z.strictObject({ change: z.literal('add'), block: Name, after: Name, text: Text, ...Only }),
]);
export type PromptChange = z.infer<typeof PromptChange>;

/** The changes in order. Each names built-in blocks, and blocks that an earlier change adds. */
export const PromptChanges = z
  .array(PromptChange)
  .max(maxChanges)
  .superRefine((changes, context) => {
    const known = new Set<string>(BLOCK_NAMES);
    for (const [index, change] of changes.entries()) {
      const { field, message } = problemOf(change, known) ?? {};
      if (field && message) context.addIssue({ code: 'custom', path: [index, field], message });
      known.add(change.block);
    }
  });

function problemOf(change: PromptChange, known: ReadonlySet<string>) {
  const { block } = change;
  const isKnown = known.has(block);
  if (change.change === 'add') {
    if (isKnown) return { field: 'block', message: `there is a block ${block} already` };
    return known.has(change.after) ? null : { field: 'after', message: unknown(change.after) };
  }
  if (!isKnown) return { field: 'block', message: unknown(block) };
  const isKept = KEPT.has(block) && change.change !== 'append';
  return isKept ? { field: 'block', message: `${block} can only be appended to` } : null;
}

function unknown(block: string): string {
  return `there is no block ${block}: name one of ${BLOCK_NAMES.join(', ')}, or one that is added before`;
}

/** @throws {DrawbridgeError} NOT_CONFIGURED, which names the first wrong field: `PROMPT_BLOCKS[0].block: …`. */
export function parsePromptBlocks(text: string): readonly PromptChange[] {
  const form = { name: 'PROMPT_BLOCKS', form: 'a JSON list of changes to blocks of the prompt' };
  return parseJsonSetting(form, PromptChanges, text);
}
