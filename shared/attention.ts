/** What a command left behind that concerns a person: a new repository, an editor's tasks, the scripts of an install. */
import * as z from 'zod';

export const AttentionItem = z.object({
  /** Relative to the workspace, escaped for showing. */
  name: z.string(),
  /** Whether what starts programs there was put into the bridge's quarantine. */
  quarantined: z.boolean(),
  /** What starts programs, or would have. Empty: nothing does. */
  what: z.array(z.string()),
  /** Why it could not be put away, where it should have been. */
  failure: z.string().optional(),
});
export type AttentionItem = z.infer<typeof AttentionItem>;

/** One sentence for people and for the model; `program` is what the reader has to call Drawbridge by. */
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
