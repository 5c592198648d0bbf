/** What a command left behind that concerns a person: a new repository, editor tasks, install scripts. */
import * as z from 'zod';

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
export type AttentionItem = z.infer<typeof AttentionItem>;

/** One sentence for people and for the model. `program` is the command by which the reader starts Drawbridge. */
export function attentionSentence(
  { name, quarantined, what, failure }: AttentionItem,
  program = 'drawbridge',
): string {
  const list = what.join(', ');
  if (failure !== undefined) {
    return `${name} is new and could NOT be quarantined, remove it before you use it: ${failure}.`;
  }
  if (quarantined) {
    return `${name} is new; what could start programs there was quarantined (\`${program} quarantine\` shows it): ${list}.`;
  }
  return what.length === 0
    ? `${name} is new; nothing in it starts programs.`
    : `${name} is new or was changed, look at it before you use it: ${list}.`;
}
