/** The presets of the machine owner's rules. */
import * as z from 'zod';

/** What the agent may do without a question. bridge/admission/rules.ts has the rules of each preset. */
export const Preset = z.enum(['read-only', 'ask', 'workspace', 'trusted']);
export type Preset = z.infer<typeof Preset>;
