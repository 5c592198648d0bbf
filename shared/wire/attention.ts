/** What a command left behind that concerns a person: a new repository, editor tasks, install scripts. */
import * as z from 'zod';
import { named } from '../named.ts';

export const AttentionItem = z.object({
  /** Relative to the workspace, escaped for showing. */
  name: z.string(),
  /** Whether the bridge put the parts that start programs into quarantine. */
  quarantined: z.boolean(),
  /** The parts that start programs, or would without the quarantine. */
  what: z.array(z.string()),
  /** Why the bridge could not put it into quarantine; absent without a failure. */
  failure: z.string().optional(),
});
named.add(AttentionItem, { id: 'AttentionItem' });
export type AttentionItem = z.infer<typeof AttentionItem>;
