/** Named sets of rules: where a rule file begins. Its own rules come after them and win. */
import * as z from 'zod';
import type { Rule } from './rules.ts';

export const PresetName = z.enum(['read-only', 'ask', 'workspace', 'trusted']);
export type PresetName = z.infer<typeof PresetName>;

export interface Preset {
  readonly rules: readonly Rule[];
  /** Whether a confined command may have the network unasked. Nothing else that it may ask for. */
  readonly trustsNetwork: boolean;
}

/** `workspace` is what holds without any file. */
export const PRESETS: Readonly<Record<PresetName, Preset>> = {
  'read-only': { rules: forAll('deny', ['edit', 'command', 'web', 'mcp:*']), trustsNetwork: false },
  ask: { rules: forAll('ask', ['edit', 'command', 'web', 'mcp:*']), trustsNetwork: false },
  workspace: { rules: [], trustsNetwork: false },
  trusted: { rules: [], trustsNetwork: true },
};

function forAll(decision: Rule['decision'], categories: readonly string[]): readonly Rule[] {
  return categories.map((tool) => ({ tool, pattern: '*', decision }));
}
