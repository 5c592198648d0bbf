/** The deployment's own changes of the system prompt. */
import { type PromptChange, parsePromptBlocks } from '../../shared/settings/prompt-blocks.ts';

export interface PromptEnv {
  /** Changes of the system prompt as JSON (shared/settings/prompt-blocks.ts). */
  readonly PROMPT_BLOCKS?: string;
}

/** Parsed again only if the text changes. @throws NOT_CONFIGURED for bad changes. */
export function readPromptChanges({ PROMPT_BLOCKS: text }: PromptEnv): readonly PromptChange[] {
  if (!text) return [];
  if (parsed?.text !== text) parsed = { text, changes: parsePromptBlocks(text) };
  return parsed.changes;
}

let parsed: { readonly text: string; readonly changes: readonly PromptChange[] } | null = null;
